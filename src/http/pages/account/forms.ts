import { z } from 'zod';
import { changePassword } from '../../../services/accounts/change-password.ts';
import { updateMe } from '../../../services/accounts/me.ts';
import { changePasswordInput, updateMeInput } from '../../../services/accounts/schema.ts';
import { leaveOrganization } from '../../../services/memberships/leave.ts';
import { leaveOrganizationInput } from '../../../services/memberships/schema.ts';
import { revokeSession } from '../../../services/sessions/revoke.ts';
import { revokeSessionInput } from '../../../services/sessions/schema.ts';
import { signOut } from '../../../services/sessions/sign-out.ts';
import { socialProviders } from '../../../services/social/providers.ts';
import { unlinkSocial } from '../../../services/social/unlink.ts';
import { createToken } from '../../../services/tokens/create.ts';
import { regenerateToken } from '../../../services/tokens/regenerate.ts';
import { revokeToken } from '../../../services/tokens/revoke.ts';
import { createOwnTokenInput, ownTokenInput } from '../../../services/tokens/schema.ts';
import { confirmTotp } from '../../../services/two-factor/confirm.ts';
import { disableTotp } from '../../../services/two-factor/disable.ts';
import { ownConfirmTotpInput, ownDisableTotpInput } from '../../../services/two-factor/schema.ts';
import { startTotp } from '../../../services/two-factor/start.ts';
import { clearedSession } from '../../cookies.ts';
import { form, type Page, page, type Reply, type Visit } from '../page.ts';
import { showAccount } from './overview.ts';
import type { SectionName } from './section.ts';
import { leadAway } from './social.ts';
import { newToken } from './tokens.ts';
import { confirmAgain, enrolment } from './two-factor.ts';

/** The account page. */
const accountPage = page({
  path: '/',
  access: 'person',
  input: z.object({ done: z.string().max(50).optional(), again: z.string().max(10).optional() }),
  // The session was renewed on the way here, which is nothing to keep in the address.
  show: (visit, { again }) => (again === undefined ? showAccount(visit) : { goTo: '/' }),
});

/** A form of a section, which is shown again with the reason where it is refused. */
function sectionForm<Input extends z.ZodObject>(
  section: SectionName,
  path: string,
  input: Input,
  act: (visit: Visit, input: z.output<Input>) => Promise<Reply>,
): Page {
  return form({
    path: `/account/${path}`,
    access: 'person',
    input,
    act,
    refused: (visit) => showAccount(visit, section),
  });
}

const back = (done: string, section: SectionName): Reply => ({ goTo: `/?done=${done}#${section}` });

const profileForm = sectionForm(
  'profile',
  'profile',
  updateMeInput.required({ name: true }),
  async ({ ctx }, input) => {
    await updateMe(ctx, input);
    return back('profile', 'profile');
  },
);

const passwordForm = sectionForm(
  'password',
  'password',
  changePasswordInput.extend({ email: z.string().optional() }),
  async ({ ctx }, { currentPassword, newPassword }) => {
    await changePassword(ctx, { currentPassword, newPassword });
    return back('password', 'password');
  },
);

const startForm = sectionForm('two-factor', 'two-factor', z.strictObject({}), async (visit) =>
  enrolment(visit, await startTotp(visit.ctx, {})),
);

/** A code as apps show it, in two halves. */
const spaced = ({ shape }: typeof ownConfirmTotpInput) =>
  z.strictObject({
    code: z
      .string()
      .transform((text) => text.replace(/\s/g, ''))
      .pipe(shape.code),
  });

const confirmForm = form({
  path: '/account/two-factor/confirm',
  access: 'person',
  input: spaced(ownConfirmTotpInput),
  act: async ({ ctx }, input) => {
    await confirmTotp(ctx, input);
    return back('two-factor-on', 'two-factor');
  },
  refused: confirmAgain,
});

const disableForm = sectionForm(
  'two-factor',
  'two-factor/disable',
  spaced(ownDisableTotpInput),
  async ({ ctx }, input) => {
    await disableTotp(ctx, input);
    return back('two-factor-off', 'two-factor');
  },
);

const endForm = sectionForm('sessions', 'sessions/end', revokeSessionInput, async ({ ctx }, input) => {
  await revokeSession(ctx, input);
  return back('session', 'sessions');
});

// A form has texts only.
const createTokenForm = createOwnTokenInput.extend({
  expiresInDays: z.coerce.number().pipe(createOwnTokenInput.shape.expiresInDays.unwrap()).optional(),
});

const createForm = sectionForm('tokens', 'tokens', createTokenForm, async ({ ctx }, input) =>
  newToken(await createToken(ctx, input)),
);

const regenerateForm = sectionForm('tokens', 'tokens/regenerate', ownTokenInput, async ({ ctx }, input) =>
  newToken(await regenerateToken(ctx, input)),
);

const revokeForm = sectionForm('tokens', 'tokens/revoke', ownTokenInput, async ({ ctx }, input) => {
  await revokeToken(ctx, input);
  return back('token', 'tokens');
});

const linkForm = sectionForm(
  'sign-in',
  'social',
  z.strictObject({ provider: z.enum(socialProviders) }),
  (visit, input) => leadAway(visit.ctx, input.provider),
);

const unlinkForm = sectionForm(
  'sign-in',
  'social/unlink',
  z.strictObject({ provider: z.enum(socialProviders) }),
  async (visit, input) => {
    await unlinkSocial(visit.ctx, input.provider);
    return back('unlinked', 'sign-in');
  },
);

const leaveForm = sectionForm(
  'organizations',
  'organizations/leave',
  leaveOrganizationInput,
  async ({ ctx }, input) => {
    const { signedOut } = await leaveOrganization(ctx, input);
    return signedOut
      ? { goTo: '/login?done=left', cookies: clearedSession() }
      : back('left', 'organizations');
  },
);

const signOutForm = sectionForm('sessions', 'sign-out', z.strictObject({}), async ({ ctx }) => {
  await signOut(ctx, {});
  return { goTo: '/login?done=signed-out', cookies: clearedSession() };
});

/** The account page and what its forms send. */
export const accountPages: Page[] = [
  accountPage,
  profileForm,
  passwordForm,
  startForm,
  confirmForm,
  disableForm,
  endForm,
  createForm,
  regenerateForm,
  revokeForm,
  linkForm,
  unlinkForm,
  leaveForm,
  signOutForm,
];
