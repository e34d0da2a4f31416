import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { literal, Op, type WhereAttributeHashValue, where } from 'sequelize';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { isEqual } from '../../../crypto/secret.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { about, Event } from '../../../database/models/event.ts';
import { RecoveryCode } from '../../../database/models/recovery-code.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { instanceKey } from '../../foundation/keys/instance-key.ts';
import { notify } from '../../foundation/mail/notify.ts';

// The rows of recovery codes (security P17). `accounts.has_recovery_codes` changes only here,
// together with the rows. Call the functions that write inside a transaction, with the account
// locked.

/** How many codes an account gets. */
const codesPerAccount = 10;

/** The account of the codes, as an event and a mail name it. */
type Holder = Pick<Account, 'id' | 'name' | 'email' | 'emailProof'>;

// Crockford's base 32, without letters that look like digits.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A random code of 50 bits: `xxxxx-xxxxx`. */
function newCode(): string {
  const characters = [...randomBytes(10)].map((byte) => alphabet[byte & 31]).join('');
  return `${characters.slice(0, 5)}-${characters.slice(5)}`;
}

/** The code in the form that is hashed: case, spaces, hyphens and similar letters do not matter. */
function canonical(code: string): string {
  return code.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1');
}

/** Bound to the account, so that a row copied to another account is useless there. */
function hashOf(key: KeyObject, accountId: string, code: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([accountId, canonical(code)]))
    .digest('base64url');
}

/** Creates ten codes, which replace the earlier ones. Returns them; they cannot be read again. */
export async function makeRecoveryCodes(
  ctx: Context,
  account: Holder,
  marks: { vouchedBy: string | null; unapproved: boolean },
): Promise<string[]> {
  const { id: accountId } = account;
  const key = await instanceKey(ctx, 'recovery codes');
  const codes = Array.from({ length: codesPerAccount }, newCode);
  await RecoveryCode.destroy({ where: { accountId } });
  await RecoveryCode.bulkCreate(
    codes.map((code) => ({
      id: orderedId(),
      accountId,
      hash: hashOf(key, accountId, code),
      createdAt: ctx.now,
      ...marks,
    })),
  );
  await Account.update({ hasRecoveryCodes: true }, { where: { id: accountId } });
  await recordEvent(ctx, { kind: 'user.recovery_codes.created', ...eventAbout('user', account) });
  return codes;
}

/** The id of this unused code of the account; null if there is none. */
export async function findRecoveryCode(
  ctx: Context,
  accountId: string,
  code: string,
): Promise<string | null> {
  const unused = await RecoveryCode.findAll({ where: { accountId }, order: ['id'] });
  if (unused.length === 0) return null;
  const hash = hashOf(await instanceKey(ctx, 'recovery codes'), accountId, code);
  return unused.find((row) => isEqual(row.hash, hash))?.id ?? null;
}

/**
 * Uses the code up; null if it has already been used. With `endsCodes`, the caller ends the other
 * codes too, and tells the person.
 */
export async function useRecoveryCode(
  ctx: Context,
  account: Holder,
  id: string,
  { endsCodes = false }: { endsCodes?: boolean } = {},
): Promise<RecoveryCode | null> {
  const { id: accountId } = account;
  const code = await RecoveryCode.findOne({ where: { id, accountId } });
  if (code === null || (await RecoveryCode.destroy({ where: { id } })) === 0) return null;
  const remaining = endsCodes ? 0 : await countCodes(accountId);
  await recordEvent(ctx, {
    kind: 'user.recovery_code.used',
    ...eventAbout('user', account),
    data: { remaining },
  });
  if (!endsCodes) await notify(ctx, account, { what: 'recovery-code-used', remaining });
  return code;
}

/** The events after which the last factor of an account is not a recovery code any more. */
const replaced = ['user.totp.enabled', 'user.passkey.added', 'user.recovery_codes.created'];

/** Whether the person used a recovery code, and has not added a factor or new codes since. */
export async function isRecovering(accountId: string): Promise<boolean> {
  // With all codes left, none was used, and no event has to be read.
  if ((await RecoveryCode.count({ where: { accountId } })) === codesPerAccount) return false;
  const last = await Event.findOne({
    where: {
      kind: ['user.recovery_code.used', ...replaced],
      [Op.and]: where(literal(`(${about})`), accountId),
    },
    order: [['id', 'DESC']],
    attributes: ['kind'],
  });
  return last?.kind === 'user.recovery_code.used';
}

/** Deletes all codes of an account, or those that match. */
export async function deleteRecoveryCodes(
  accountId: string,
  matching: { vouchedBy?: WhereAttributeHashValue<string>; unapproved?: true } = {},
): Promise<void> {
  await RecoveryCode.destroy({ where: { accountId, ...matching } });
  await countCodes(accountId);
}

/** Deletes the codes of all accounts, in a restore. Returns how many. */
export async function deleteAllRecoveryCodes(): Promise<number> {
  const deleted = await RecoveryCode.destroy({ where: {} });
  await Account.update({ hasRecoveryCodes: false }, { where: { hasRecoveryCodes: true } });
  return deleted;
}

/** Deletes the codes if the account has no other second factor. Call it after removing one. */
export async function deleteCodesWithoutFactor(accountId: string): Promise<void> {
  const account = await Account.findByPk(accountId);
  if (account?.hasRecoveryCodes && !hasSecondFactor(account)) await deleteRecoveryCodes(accountId);
}

/** Counts the unused codes, and stores whether there are any. */
async function countCodes(accountId: string): Promise<number> {
  const remaining = await RecoveryCode.count({ where: { accountId } });
  await Account.update({ hasRecoveryCodes: remaining > 0 }, { where: { id: accountId } });
  return remaining;
}
