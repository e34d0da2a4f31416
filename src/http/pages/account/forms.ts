import { z } from 'zod';
import { type ConnectionKindName, connectionKindNames } from '../../../connection-kinds.ts';
import { parse } from '../../../input.ts';
import { changePassword } from '../../../services/people/credentials/operations.ts';
import { revokeSession, signOut } from '../../../services/people/sessions/operations.ts';
import {
  createToken,
  regenerateToken,
  revokeToken,
} from '../../../services/people/tokens/operations.ts';
import {
  confirmTotp,
  disableTotp,
  startTotp,
} from '../../../services/people/two-factor/operations.ts';
import { regenerateRecoveryCodes } from '../../../services/people/two-factor/recovery-codes.ts';
import { unlinkSocial } from '../../../services/signin/methods/social-links.ts';
import { endSignedIn } from '../../../services/signin/provider/operations.ts';
import { approveInput } from '../../../services/tenancy/connections/approve.ts';
import { socialProviders } from '../../../services/tenancy/identities/social-providers.ts';
import { approveLdap } from '../../../services/tenancy/ldap/operations.ts';
import { leaveOrganization } from '../../../services/tenancy/memberships/operations.ts';
import { deleteMe } from '../../../services/tenancy/profile/deletion.ts';
import { confirmEmail, requestEmail } from '../../../services/tenancy/profile/email.ts';
import { updateMe } from '../../../services/tenancy/profile/operations.ts';
import { approveSso } from '../../../services/tenancy/sso/operations.ts';
import { clearedSession } from '../../cookies.ts';
import { endingPages } from '../ending.ts';
import { asMeant, totpCode } from '../login/mail-code.ts';
import { markSignInNotice } from '../marks.ts';
import { form, operationForm, type Page, type PageReply, page, type Visit } from '../page.ts';
import { isSentAgain } from '../sent-again.ts';
import { confirmPage } from './confirm-page.ts';
import { askEmailCode } from './email.ts';
import { showAccount, showCodes } from './overview.ts';
import { passkeyForms } from './passkey-forms.ts';
import { back, changeForm, ownForm, sectionForm } from './section-form.ts';
import { leadAway } from './social.ts';
import { newToken } from './tokens.ts';
import { confirmAgain, enrolment } from './two-factor.ts';

/** Accepts a space in the code, because authenticator apps show two groups of digits. */
const spaced = z
  .string()
  .transform((text) => text.replace(/\s/g, ''))
  .pipe(confirmTotp.input.shape.code);

const nothing = z.strictObject({});
const provider = z.strictObject({ provider: z.enum(socialProviders) });

const approvals = { sso: approveSso, ldap: approveLdap } satisfies Record<
  ConnectionKindName,
  unknown
>;

/** The account page and its forms. */
export const accountPages: Page[] = [
  page({
    path: '/',
    access: 'person',
    input: z.object({ done: z.string().max(50).optional() }),
    show: (visit) => showAccount(visit),
  }),
  changeForm('profile', 'profile', updateMe.input.required({ name: true }), updateMe, 'profile'),
  ownForm('profile', 'email', requestEmail, (visit) => askEmailCode(visit)),
  operationForm('/account/email/confirm', confirmEmail, {
    reply: (visit) => back(visit, 'email', 'profile'),
    refused: askEmailCode,
  }),
  changeForm(
    'password',
    'password',
    changePassword.input.extend({ email: z.string().optional() }),
    (ctx, { email: _, ...input }) => changePassword(ctx, input),
    'password',
  ),
  sectionForm('two-factor', 'two-factor', nothing, async (visit) =>
    enrolment(visit, await startTotp(visit.ctx, {})),
  ),
  form({
    path: '/account/two-factor/confirm',
    access: 'person',
    input: z.strictObject({ code: spaced }),
    act: async (visit, input) => {
      const { recoveryCodes } = await confirmTotp(visit.ctx, input);
      return recoveryCodes === undefined
        ? back(visit, 'two-factor-on', 'two-factor')
        : showCodes(visit, recoveryCodes, 'two-factor-on');
    },
    refused: (visit) => {
      if (isSentAgain(visit)) return showAccount(visit, 'recovery-codes');
      // Another tab has turned it on, so there is nothing to confirm.
      const isOn = visit.refusal.code === 'already_exists';
      return isOn ? showAccount(visit, 'two-factor') : confirmAgain(visit);
    },
  }),
  changeForm(
    'two-factor',
    'two-factor/disable',
    z.strictObject({ code: totpCode, recoveryCode: disableTotp.input.shape.recoveryCode }),
    (ctx, { code: typed, recoveryCode: given }) => {
      const { totpCode: code, recoveryCode } = asMeant({ totpCode: typed, recoveryCode: given });
      return disableTotp(ctx, parse(disableTotp.input, { code, recoveryCode }));
    },
    'two-factor-off',
  ),
  ownForm('recovery-codes', 'recovery-codes', regenerateRecoveryCodes, (visit, { codes }) =>
    showCodes(visit, codes),
  ),
  ...passkeyForms,
  confirmPage(() => accountPages),
  changeForm(
    'connections',
    'connections/approve',
    approveInput.extend({ kind: z.enum(connectionKindNames) }),
    (ctx, { kind, ...input }) => approvals[kind](ctx, input),
    'approved',
  ),
  ownForm('sessions', 'sessions/end', revokeSession, (visit) => back(visit, 'session', 'sessions')),
  ownForm('applications', 'clients/end', endSignedIn, (visit) =>
    back(visit, 'client', 'applications'),
  ),
  ownForm('tokens', 'tokens', createToken, (_visit, made) => newToken(made)),
  ownForm('tokens', 'tokens/regenerate', regenerateToken, (_visit, made) => newToken(made)),
  ...endingPages('/account/tokens/revoke', revokeToken, {
    act: 'Revoke token',
    back: '/#tokens',
    reply: (visit) => back(visit, 'token', 'tokens'),
  }),
  sectionForm('sign-in', 'social', provider, (visit, input) => leadAway(visit, input.provider)),
  changeForm(
    'sign-in',
    'social/unlink',
    provider,
    (ctx, input) => unlinkSocial(ctx, { provider: input.provider }),
    'unlinked',
  ),
  ...endingPages('/account/organizations/leave', leaveOrganization, {
    act: 'Leave organization',
    back: '/#organizations',
    reply: (visit, { signedOut }) =>
      signedOut ? toSignIn(visit, 'left') : back(visit, 'left', 'organizations'),
  }),
  // The page renews the session, which a direct link to the route would not.
  page({
    path: '/account/export',
    access: 'person',
    input: z.object({}),
    show: () => ({ goTo: '/api/v1/me/export' }),
  }),
  // Refuses in the section, where the person can confirm, what the next page would refuse.
  sectionForm('leaving', 'leaving', nothing, async (visit, input) => {
    await visit.rehearse(deleteMe, input);
    return { goTo: '/account/delete' };
  }),
  ...endingPages('/account/delete', deleteMe, {
    act: 'Delete account',
    back: '/#leaving',
    reply: (visit) => toSignIn(visit, 'deleted'),
  }),
  sectionForm('sessions', 'sign-out', nothing, async (visit) => {
    await signOut(visit.ctx, {});
    return toSignIn(visit, 'signed-out');
  }),
];

/** Redirects to the sign-in page, which shows the notice. Clears the cookies of the session. */
function toSignIn(visit: Visit, notice: string): PageReply {
  const goTo = `/login?done=${markSignInNotice(visit, notice)}`;
  return { goTo, cookies: clearedSession() };
}
