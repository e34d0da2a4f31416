import { randomInt } from 'node:crypto';
import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { idAround, millisecondOf, orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { readRow } from '../../../database/read-row.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import {
  email,
  givenInvitation,
  id,
  instant,
  isUuid,
  locale,
  name,
  userRef,
} from '../../foundation/fields.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { deleteCodesWithoutFactor } from '../codes/recovery-code.ts';
import { sampleNewest } from './accounts.sql.ts';

/** A password as given. Only its size is checked: a wrong password is refused without a reason. */
export const givenPassword = z.string().min(1, 'is required').max(1024, 'is too long');

export const userRefInput = z.strictObject({ user: userRef });
export const signUpInput = z.strictObject({
  email,
  password: givenPassword,
  name,
  locale: locale.optional(),
  invitation: givenInvitation.optional(),
});

export const userView = z.object({
  id,
  email: z.string().nullable(),
  emailVerified: z.boolean(),
  name: z.string(),
  locale: z.string(),
  twoFactorEnabled: z.boolean(),
  disabled: z.boolean(),
  createdAt: instant,
});

/**
 * Whether the address counts as verified. If this instance does not send mail, it does (spec §2.6).
 * Exception: the account awaits a code from a time when the instance sent mail (security I3).
 */
export function isEmailVerified(
  ctx: Pick<Context, 'config'>,
  { emailProof, awaitsCode }: Pick<Account, 'emailProof' | 'awaitsCode'>,
): boolean {
  return emailProof !== 'none' || !(awaitsCode || isMailConfigured(ctx));
}

/** An account as its owner sees it. */
export function viewOwner(
  ctx: Pick<Context, 'config'>,
  account: Pick<Account, 'id' | 'email' | 'emailProof' | 'awaitsCode' | 'name' | 'locale'>,
  twoFactorEnabled: boolean,
) {
  const { id, email, name, locale } = account;
  const emailVerified = isEmailVerified(ctx, account);
  return { id, email, emailVerified, name, locale, twoFactorEnabled };
}

/** An account with the fields of the operator's view. */
export function viewUser(ctx: Pick<Context, 'config'>, account: Account) {
  return {
    ...viewOwner(ctx, account, hasSecondFactor(account)),
    disabled: account.disabledAt !== null,
    createdAt: account.createdAt.toISOString(),
  };
}

/** The account with this canonical address, or null. */
export function findByEmail(email: string): Promise<Account | null> {
  return readRow(Account, ['email', email]);
}

/** The account with this id or canonical address; refuses with `not_found`. */
export async function requireAccount(user: string): Promise<Account> {
  const account = isUuid(user) ? await Account.findByPk(user) : await findByEmail(user);
  if (account === null)
    throw new Refusal('not_found', `There is no user ${user}.`, {
      hint: { to: 'list them', operation: 'user.list' },
    });
  return account;
}

/**
 * Locks the account, and refuses if the caller's credential was revoked since the request began.
 * Call it before creating a credential, so that a reclaim removes the credential too (security I3).
 */
export async function holdAccount(ctx: Context, accountId: string): Promise<void> {
  if ((await hold.account(accountId)) !== null && (await isLive(ctx))) return;
  throw new Refusal('invalid_credential', 'The credential was revoked.', {
    hint: 'Sign in again.',
  });
}

/** Whether the caller's token exists, or their session has not ended; true for other actors. */
export async function isLive({ actor }: Context): Promise<boolean> {
  if (actor.kind !== 'user') return true;
  if (actor.via !== 'session')
    return (await AccessToken.count({ where: { id: actor.tokenId } })) > 0;
  return (await Session.count({ where: { id: actor.sessionId, endedAt: null } })) > 0;
}

/**
 * Marks the accounts whose address was proved by owning this domain, which is now given up. The
 * next owner of the domain then does not trust them (security I3).
 */
export async function forgetProofs(domain: string): Promise<void> {
  const proven = { emailProof: 'domain' as const, email: { [Op.endsWith]: `@${domain}` } };
  await Account.update({ emailProof: 'former domain' }, { where: proven });
}

const max = 1000;
const amongNewest = 20_000;
const freshMs = 10 * 60_000;
const blurMs = 10 * 60_000;

/**
 * Creates an id for an account that SCIM creates at a stranger's address. Its time is close to that
 * of an existing account, so it does not reveal that the account is new (security I4).
 */
export async function idLikeOthers(ctx: Context): Promise<string> {
  const { ids } = await sampleIds(ctx);
  const like = ids.length === 0 ? undefined : ids[randomInt(ids.length)];
  // The time only moves back, so it is never in the future.
  return like === undefined ? orderedId() : idAround(millisecondOf(like) - randomInt(blurMs));
}

/** The sampled ids, and when they were read. */
const sampledIds = remembered(() => ({ ids: [] as string[], at: new Date(0) }));

/** Samples the ids of some of the newest accounts, and keeps them for ten minutes. */
async function sampleIds(ctx: Context) {
  const { now } = ctx;
  const known = sampledIds(ctx);
  if (known.ids.length > 0 && now.getTime() - known.at.getTime() < freshMs) return known;
  return Object.assign(known, { ids: await sampleNewest(max, amongNewest), at: now });
}

/**
 * Deletes the authenticator's secret and the data about it (spec §2.6), and the recovery codes if no
 * other second factor is left.
 */
export async function discardTotp(accountId: string): Promise<void> {
  const nothing = {
    totpSecret: null,
    totpStartedAt: null,
    totpEnabledAt: null,
    totpLastStep: null,
    totpVouchedBy: null,
    totpUnapproved: false,
  };
  await Account.update(nothing, { where: { id: accountId } });
  await deleteCodesWithoutFactor(accountId);
}
