import { createHmac, randomInt, randomUUID } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/equal.ts';
import { type CodePurpose, MailCode } from '../../../database/models/mail-code.ts';
import { select } from '../../../database/select.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { after } from '../../foundation/time.ts';

// Codes by mail (security P10): six digits, ten minutes, one use, five tries, for one account and
// one purpose.

const lifeSeconds = 600;
const mostTries = 5;

/** The account and purpose that a code is bound to. */
export interface CodeOf {
  accountId: string;
  purpose: CodePurpose;
}

/** A right code; `hash` is its stored form. */
export interface RightCode extends CodeOf {
  hash: string;
}

/**
 * Makes a code that replaces the earlier one; call it inside a transaction. `keepTries` keeps the
 * tries spent on the earlier code, if no new one was asked for.
 */
export async function writeCode(
  ctx: Context,
  of: CodeOf,
  { keepTries }: { keepTries: boolean },
): Promise<string> {
  const code = randomInt(1_000_000).toString().padStart(6, '0');
  const earlier = await MailCode.findOne({ where: { ...of } });
  const written = { hash: hashOf(ctx, of, code), expiresAt: after(ctx.now, lifeSeconds) };
  const tries = keepTries ? (earlier?.tries ?? 0) : 0;
  await MailCode.upsert({ ...of, ...written, tries });
  return code;
}

/**
 * When the last code of this account and purpose was written; null if there is none, or it was
 * spent or swept.
 */
export async function lastWritten(of: CodeOf): Promise<Date | null> {
  const code = await MailCode.findOne({ where: { ...of } });
  return code === null ? null : after(code.expiresAt, -lifeSeconds);
}

const take = `UPDATE mail_codes SET tries = tries + 1
  WHERE account_id = $1 AND purpose = $2 AND tries < $3 AND expires_at > $4 RETURNING hash`;
const untake =
  'UPDATE mail_codes SET tries = tries - 1 WHERE account_id = $1 AND purpose = $2 AND hash = $3 AND tries > 0 RETURNING tries';

/**
 * Compares a code with the mailed one; null if it differs, or there is none. The try is counted,
 * for all processes, before the comparison. Without an account the work is the same (security P7).
 */
export async function tryCode(
  ctx: Context,
  { accountId, purpose }: { accountId: string | null; purpose: CodePurpose },
  code: string,
): Promise<RightCode | null> {
  const of = { accountId: accountId ?? randomUUID(), purpose };
  const [taken] = await unsynced(() =>
    select<{ hash: string }>(take, [of.accountId, purpose, mostTries, ctx.now]),
  );
  const hash = hashOf(ctx, of, code);
  return isEqual(hash, taken?.hash ?? '') ? { ...of, hash } : null;
}

/** A right code is no guess: returns its try if the sign-in then failed. */
export async function giveTryBack({ accountId, purpose, hash }: RightCode): Promise<void> {
  await transaction(() => select(untake, [accountId, purpose, hash]));
}

/**
 * Ends the code; false if another use came first. Call it inside the transaction that the code
 * opens.
 */
export async function spendCode(code: RightCode): Promise<boolean> {
  const { accountId, purpose, hash } = code;
  return (await MailCode.destroy({ where: { accountId, purpose, hash } })) === 1;
}

function hashOf(ctx: Context, { accountId, purpose }: CodeOf, code: string): string {
  return createHmac('sha256', ctx.keyring.derive('mail codes'))
    .update(JSON.stringify([accountId, purpose, code]))
    .digest('base64url');
}
