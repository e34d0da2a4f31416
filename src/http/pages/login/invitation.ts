import { z } from 'zod';
import { givenInvitation } from '../../../services/foundation/fields.ts';
import { roleInWords } from '../../../services/instance/mail/letters.ts';
import { describeOwner } from '../../../services/signin/account-page.ts';
import { invitationInvalid } from '../../../services/tenancy/invitations/invitation.ts';
import {
  acceptInvitation,
  lookAtInvitation,
} from '../../../services/tenancy/invitations/operations.ts';
import { type Html, html } from '../html.ts';
import { markNotice } from '../marks.ts';
import { otherLinks } from '../navigation.ts';
import { form, isSignedIn, type ShownPage, type Visit } from '../page.ts';
import { alert, postForm } from '../parts.ts';
import { askWho } from './methods.ts';
import { linkTo } from './query.ts';

type Invitation = NonNullable<Awaited<ReturnType<typeof lookAtInvitation>>>;

/** Shows an invitation, and the ways to accept it: sign in, create an account, or join. */
export async function showInvitation(visit: Visit, invitation: string): Promise<ShownPage> {
  const to = await lookAtInvitation(visit.ctx, { token: invitation });
  if (to === null) return askWho({ ...visit, refusal: visit.refusal ?? invitationInvalid() }, {});
  const { email, role, inviter, organization } = to;
  return {
    title: `Join ${organization}`,
    main: html`<h1>Join ${organization}</h1>
<p>${inviter === null ? 'You are invited' : html`<strong class="address">${inviter}</strong> invites you`} as ${roleInWords(role)}, with the address <strong class="address">${email}</strong></p>
${alert(visit)}
${isSignedIn(visit.ctx) ? await signedIn(visit, to, invitation) : signedOut(to, invitation)}`,
  };
}

/** Accepts an invitation for the person who is signed in. */
export const acceptPage = form({
  path: '/account/invitation',
  access: 'person',
  input: z.strictObject({ invitation: givenInvitation }),
  act: async (visit, { invitation }) => {
    await acceptInvitation(visit.ctx, { token: invitation });
    return { goTo: `/?done=${markNotice(visit, 'joined')}#organizations` };
  },
  refused: (visit) => showInvitation(visit, visit.given['invitation'] ?? ''),
});

function signedOut({ email }: Invitation, invitation: string): Html {
  const returnTo = linkTo('/login', {}, { invitation });
  return html`<p><a class="button" href="${linkTo('/login', { identifier: email, returnTo })}">Sign in to accept</a></p>
${otherLinks(html`<a href="${linkTo('/login/signup', { identifier: email }, { invitation })}">Create an account</a>`)}`;
}

async function signedIn(
  visit: Visit,
  { email, organization }: Invitation,
  invitation: string,
): Promise<Html> {
  const me = await describeOwner(visit.ctx);
  if (me.email === email) {
    return postForm(
      visit,
      '/account/invitation',
      html`<button type="submit">Join ${organization}</button>`,
      {
        invitation,
      },
    );
  }
  return html`<p>You are signed in as ${me.email ?? me.name}. Sign out, then open the link again.</p>
${postForm(visit, '/account/sign-out', html`<button type="submit">Sign out</button>`)}`;
}
