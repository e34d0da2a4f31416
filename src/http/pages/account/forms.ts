import { z } from 'zod';
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
import { unlinkSocial } from '../../../services/signin/methods/social.ts';
import { endSignedIn } from '../../../services/signin/provider/operations.ts';
import { socialProviders } from '../../../services/tenancy/identities/providers.ts';
import { leaveOrganization } from '../../../services/tenancy/memberships/operations.ts';
import { updateMe } from '../../../services/tenancy/profile/operations.ts';
import { clearedSession } from '../../cookies.ts';
import { markSignInNotice } from '../marks.ts';
import { form, type Page, page } from '../page.ts';
import { showAccount } from './overview.ts';
import { passkeyForms } from './passkey-forms.ts';
import { back, changeForm, sectionForm } from './section-form.ts';
import { leadAway } from './social.ts';
import { newToken } from './tokens.ts';
import { confirmAgain, enrolment } from './two-factor.ts';

/** The account page. */
const accountPage = page({
  path: '/',
  access: 'person',
  input: z.object({ done: z.string().max(50).optional(), again: z.string().max(10).optional() }),
  // `again` marks a renewed session; the redirect removes it from the address.
  show: (visit, { again }) => (again === undefined ? showAccount(visit) : { goTo: '/' }),
});

const profileForm = changeForm(
  'profile',
  'profile',
  updateMe.input.required({ name: true }),
  updateMe,
  'profile',
);

const passwordForm = changeForm(
  'password',
  'password',
  changePassword.input.extend({ email: z.string().optional() }),
  (ctx, { currentPassword, newPassword }) => changePassword(ctx, { currentPassword, newPassword }),
  'password',
);

const startForm = sectionForm('two-factor', 'two-factor', z.strictObject({}), async (visit) =>
  enrolment(visit, await startTotp(visit.ctx, {})),
);

/** Accepts a space in the code, because authenticator apps show two groups of digits. */
const spaced = ({ shape }: typeof confirmTotp.input) =>
  z.strictObject({
    code: z
      .string()
      .transform((text) => text.replace(/\s/g, ''))
      .pipe(shape.code),
  });

const confirmForm = form({
  path: '/account/two-factor/confirm',
  access: 'person',
  input: spaced(confirmTotp.input),
  act: async (visit, input) => {
    await confirmTotp(visit.ctx, input);
    return back(visit, 'two-factor-on', 'two-factor');
  },
  refused: confirmAgain,
});

const disableForm = changeForm(
  'two-factor',
  'two-factor/disable',
  spaced(disableTotp.input),
  disableTotp,
  'two-factor-off',
);

const endForm = changeForm(
  'sessions',
  'sessions/end',
  revokeSession.input,
  revokeSession,
  'session',
);

const endClientForm = changeForm(
  'sessions',
  'clients/end',
  endSignedIn.input,
  endSignedIn,
  'client',
);

// A form sends only text, so this converts the number.
const createTokenForm = createToken.input.extend({
  expiresInDays: z.coerce.number().pipe(createToken.input.shape.expiresInDays.unwrap()).optional(),
});

const createForm = sectionForm('tokens', 'tokens', createTokenForm, async ({ ctx }, input) =>
  newToken(await createToken(ctx, input)),
);

const regenerateForm = sectionForm(
  'tokens',
  'tokens/regenerate',
  regenerateToken.input,
  async ({ ctx }, input) => newToken(await regenerateToken(ctx, input)),
);

const revokeForm = changeForm('tokens', 'tokens/revoke', revokeToken.input, revokeToken, 'token');

const linkForm = sectionForm(
  'sign-in',
  'social',
  z.strictObject({ provider: z.enum(socialProviders) }),
  (visit, input) => leadAway(visit, input.provider),
);

const unlinkForm = changeForm(
  'sign-in',
  'social/unlink',
  z.strictObject({ provider: z.enum(socialProviders) }),
  (ctx, { provider }) => unlinkSocial(ctx, provider),
  'unlinked',
);

const leaveForm = sectionForm(
  'organizations',
  'organizations/leave',
  leaveOrganization.input,
  async (visit, input) => {
    const { signedOut } = await leaveOrganization(visit.ctx, input);
    if (!signedOut) return back(visit, 'left', 'organizations');
    return { goTo: `/login?done=${markSignInNotice(visit, 'left')}`, cookies: clearedSession() };
  },
);

const signOutForm = sectionForm('sessions', 'sign-out', z.strictObject({}), async (visit) => {
  await signOut(visit.ctx, {});
  const goTo = `/login?done=${markSignInNotice(visit, 'signed-out')}`;
  return { goTo, cookies: clearedSession() };
});

/** The account page and its forms. */
export const accountPages: Page[] = [
  accountPage,
  profileForm,
  passwordForm,
  startForm,
  confirmForm,
  disableForm,
  ...passkeyForms,
  endForm,
  endClientForm,
  createForm,
  regenerateForm,
  revokeForm,
  linkForm,
  unlinkForm,
  leaveForm,
  signOutForm,
];
