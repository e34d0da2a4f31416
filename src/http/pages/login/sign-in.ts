import { z } from 'zod';
import { requireReturnTo } from '../../../services/signin/redirect/return-to.ts';
import { noticeOf } from '../notice.ts';
import { isSignedIn, page, type Visit } from '../page.ts';
import { viaRenewal } from '../renew.ts';
import { showInvitation } from './invitation.ts';
import { showMethods } from './methods.ts';
import { returnTo } from './place.ts';
import { askWho } from './who.ts';

const notices: Record<string, string> = {
  'signed-out': 'You are signed out.',
  'new-password': 'Your password was changed. Sign in with the new one.',
  left: 'You left the organization and are signed out. Only its admins can add you again.',
};

/** The sign-in screen: asks for an identifier, then shows the ways to sign in with it. */
export const signInPage = page({
  path: '/login',
  access: 'public',
  input: z.object({
    identifier: z.string().max(1000).optional(),
    by: z.enum(['password', 'directory']).optional(),
    invitation: z.string().max(200).optional(),
    returnTo,
    done: z.string().max(50).optional(),
    again: z.string().max(10).optional(),
  }),
  show: async (visit, { identifier, by, invitation, returnTo, done }) => {
    if (mayBeSignedIn(visit)) return { goTo: viaRenewal('/login', visit.given) };
    if (invitation !== undefined) return showInvitation(visit, invitation);
    const target = requireReturnTo(visit.ctx, returnTo);
    if (isSignedIn(visit.ctx)) return { goTo: target };
    const said = notices[noticeOf(visit, done) ?? ''];
    if (identifier === undefined) return askWho(visit, { returnTo }, said);
    return showMethods(visit, { identifier, returnTo }, by, said);
  },
});

/**
 * Whether a link led here a browser that was signed in before: perhaps only its access token
 * expired.
 */
function mayBeSignedIn({ ctx, given, cookie }: Visit): boolean {
  const sent = given['returnTo'] !== undefined || given['invitation'] !== undefined;
  const first = given['again'] === undefined && given['identifier'] === undefined;
  return sent && first && !isSignedIn(ctx) && cookie('form') !== undefined;
}
