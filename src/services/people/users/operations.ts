import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account, emailProofs } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { email, instant, locale, name, userRef } from '../../foundation/fields.ts';
import { forgetCounts, mailboxOf } from '../../foundation/limits/limit.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import {
  givenPassword,
  requireAccount,
  userRefInput,
  userView,
  viewUser,
} from '../accounts/account.ts';
import { hashNewPassword } from '../accounts/password.ts';
import { credentialView, endSignIns } from '../credentials/credentials.ts';

// Accounts as the operator sees and changes them.

export const passwordSetView = userView.extend({
  passkeysLeft: z.int().describe('Passkeys that the account keeps. Each may sign the person in.'),
  ended: z.object({ sessions: z.int(), tokens: z.int() }),
});

export const shownUserView = userView.extend({
  emailProof: z
    .enum(emailProofs)
    .describe('The proof of the address; none, auto and former domain do not count (security I3).'),
  awaitsCode: z
    .boolean()
    .describe('Whether the account is waiting for the code that was mailed at its sign-up.'),
  credentials: z.array(credentialView),
  singleSignOn: z
    .boolean()
    .describe('Whether single sign-on is enabled for the domain of the address.'),
  lockouts: z
    .array(
      z.object({
        of: z.enum(['password', 'secondFactor']),
        network: z.string().nullable().describe('The locked network; null means all others.'),
        until: instant,
      }),
    )
    .describe('The lockouts after too many refused attempts.'),
});

/** Lists every account of the instance, oldest first. */
export const listUsers = operation({
  authority: 'operator',
  input: z.strictObject(pageInput),
  output: pageOf(userView),
  run: (ctx, input) => readRows(Account, {}, input, (row) => viewUser(ctx, row)),
});

/** Creates an account with an address that the operator confirms; the password is optional. */
export const createUser = operation({
  authority: 'operator',
  input: z.strictObject({
    email,
    name,
    locale: locale.optional(),
    password: givenPassword.optional(),
  }),
  output: userView,
  run: async (ctx, input) => {
    const passwordHash =
      input.password === undefined ? null : await hashNewPassword(ctx, input.password, input);
    const account = await transaction(async () => {
      const row = {
        id: orderedId(),
        email: input.email,
        emailProof: 'operator' as const,
        name: input.name,
        passwordHash,
        createdAt: ctx.now,
        ...(input.locale === undefined ? {} : { locale: input.locale }),
      };
      const made = await refusingDuplicate(Account.create(row), {
        message: `The user ${input.email} already exists.`,
        hint: { to: 'see this user', operation: 'user.show', with: { user: input.email } },
      });
      await recordEvent(ctx, {
        kind: 'user.created',
        ...eventAbout('user', { id: made.id, name: input.email }),
      });
      return made;
    });
    return viewUser(ctx, account);
  },
});

function changesUser(change: (ctx: Context, account: Account) => Promise<void>) {
  return operation({
    authority: 'operator',
    input: userRefInput,
    output: userView,
    run: async (ctx, input) => {
      const account = await requireAccount(input.user);
      await transaction(() => change(ctx, account));
      return viewUser(ctx, account);
    },
  });
}

/**
 * Disables an account from the next request on. Its sessions, mailed codes, sign-in links and setup
 * links are revoked for good. Tokens, apps and the password work again once the account is enabled.
 */
export const disableUser = changesUser(async (ctx, account) => {
  if (account.disabledAt !== null) return;
  await account.update({ disabledAt: ctx.now });
  await endSignIns(ctx, { accountId: account.id });
  await SetupLink.destroy({ where: { accountId: account.id } });
  await recordEvent(ctx, { kind: 'user.disabled', ...eventAbout('user', account) });
});

/** Lets a disabled account sign in again; ended sessions stay ended. */
export const enableUser = changesUser(async (ctx, account) => {
  if (account.disabledAt === null) return;
  await account.update({ disabledAt: null });
  await recordEvent(ctx, { kind: 'user.enabled', ...eventAbout('user', account) });
});

/** Lifts an account's lockouts, so that passwords and codes can be tried again (security P8). */
export const unlockUser = changesUser(async (ctx, account) => {
  const { id, email } = account;
  const named = email === null ? [id] : [id, email, mailboxOf(email)];
  if (!(await forgetCounts(ctx, named))) return;
  await recordEvent(ctx, { kind: 'user.unlocked', ...eventAbout('user', account) });
});

/**
 * Sets an account's password. Revokes its sessions, mailed codes and sign-in links (security P10),
 * and its tokens unless `keepTokens` is set. Its apps keep their secrets.
 */
export const setUserPassword = operation({
  authority: 'operator',
  input: z.strictObject({
    user: userRef,
    password: givenPassword,
    keepTokens: z.boolean().optional(),
  }),
  output: passwordSetView,
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    const passwordHash = await hashNewPassword(ctx, input.password, account);
    const ended = await transaction(async () => {
      await account.update({ passwordHash, passwordUnapproved: false });
      const accountId = account.id;
      const sessions = await endSignIns(ctx, { accountId });
      const tokens =
        input.keepTokens === true ? 0 : await AccessToken.destroy({ where: { accountId } });
      const data = { tokensEnded: tokens };
      await recordEvent(ctx, { kind: 'user.password.set', ...eventAbout('user', account), data });
      await notify(ctx, account, { what: 'password-changed' });
      return { sessions, tokens };
    });
    const passkeysLeft = await Passkey.count({ where: { accountId: account.id } });
    return { ...viewUser(ctx, account), passkeysLeft, ended };
  },
});

/** The slugs of the organizations whose only active owner is this account. */
export const listOwnedAlone = operation({
  authority: 'operator',
  input: userRefInput,
  output: z.array(z.string()),
  run: async (_ctx, input) => {
    const { id, disabledAt } = await requireAccount(input.user);
    if (disabledAt !== null) return [];
    const owned = await Membership.findAll({ where: { accountId: id, role: 'owner' } });
    const alone: string[] = [];
    for (const { organizationId } of owned) {
      const others = await Membership.count({
        where: { organizationId, role: 'owner', accountId: { [Op.ne]: id } },
        include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
      });
      if (others === 0) alone.push(organizationId);
    }
    const organizations = await Organization.findAll({ where: { id: alone }, order: ['slug'] });
    return organizations.map(({ slug }) => slug);
  },
});
