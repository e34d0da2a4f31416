import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import { type CodePurpose, MailCode } from '../../../database/models/mail-code.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { after } from '../../foundation/time.ts';
import { type CodeOf, countTry, takeTryBack } from './codes.sql.ts';

// A mailed code (security P10) has six digits. It is valid for ten minutes, one use, five attempts
// and one purpose. A code for a new address is valid for this address only (security P18).

const lifeSeconds = 600;
const maxTries = 5;

/** A mailed code as given. Spaces between its digits are removed. */
export const givenCode = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the six digits from the mail'));

/** The answer to an invalid code, the same for every reason. */
export function codeInvalid(): Refusal {
  return new Refusal('code_invalid', 'This code is wrong or has expired.', {
    hint: 'Request a new one.',
  });
}

/** A correct code; `hash` is its stored form. */
export interface RightCode extends CodeOf {
  hash: string;
}

/**
 * Creates a code, which replaces the earlier code. Call it inside a transaction. With `keepTries`,
 * attempts with the earlier code still count, because no new code was requested.
 */
export async function writeCode(
  ctx: Context,
  of: CodeOf,
  { keepTries, newAddress }: { keepTries: boolean; newAddress?: string },
): Promise<string> {
  const code = randomInt(1_000_000).toString().padStart(6, '0');
  const earlier = await MailCode.findOne({ where: { ...of } });
  const hash = hashOf(ctx, of, code, newAddress);
  const written = { hash, expiresAt: after(ctx.now, lifeSeconds) };
  const tries = keepTries ? (earlier?.tries ?? 0) : 0;
  await MailCode.upsert({ ...of, ...written, tries });
  return code;
}

/** When the last code of this account and purpose was written; null if there is none. */
export async function lastWritten(of: CodeOf): Promise<Date | null> {
  const code = await MailCode.findOne({ where: { ...of } });
  return code === null ? null : after(code.expiresAt, -lifeSeconds);
}

/**
 * Compares a code with the mailed code; null if they differ or none is valid. The attempt is
 * counted first, for all processes. Without an account the work is the same (security P7).
 */
export async function tryCode(
  ctx: Context,
  { accountId, purpose }: { accountId: string | null; purpose: CodePurpose },
  code: string,
  newAddress?: string,
): Promise<RightCode | null> {
  const of = { accountId: accountId ?? randomUUID(), purpose };
  const taken = await unsynced(() => countTry(of, maxTries, ctx.now));
  const hash = hashOf(ctx, of, code, newAddress);
  return isEqual(hash, taken ?? '') ? { ...of, hash } : null;
}

/** Takes back the count of a correct code if the sign-in failed later. */
export async function giveTryBack(code: RightCode): Promise<void> {
  await transaction(() => takeTryBack(code, code.hash));
}

/**
 * Spends the code, and returns its account, locked; null if either is gone. Call it inside the
 * transaction that acts on the code. On null, roll the transaction back.
 */
export async function spendCode({ accountId, purpose, hash }: RightCode): Promise<Account | null> {
  const account = await hold.account(accountId);
  const spent = await MailCode.destroy({ where: { accountId, purpose, hash } });
  return spent === 1 ? account : null;
}

function hashOf(
  ctx: Context,
  { accountId, purpose }: CodeOf,
  code: string,
  newAddress?: string,
): string {
  const bound = newAddress === undefined ? [] : [newAddress];
  return createHmac('sha256', ctx.keyring.derive('mail codes'))
    .update(JSON.stringify([accountId, purpose, code, ...bound]))
    .digest('base64url');
}

// The code proves who reads the mailbox, not who chose the password (security P11). So the client
// that signs up gets a ticket, and shows it to confirm.

/** How many seconds an unverified sign-up and its ticket last. */
export const unconfirmedSeconds = 7 * 24 * 3600;

/** The sign-up ticket of a stored password. Equal passwords of two sign-ups have two tickets. */
export function signUpTicket({ keyring }: Pick<Context, 'keyring'>, passwordHash: string): string {
  return createHmac('sha256', keyring.derive('sign-up tickets'))
    .update(passwordHash)
    .digest('base64url');
}

/**
 * Whether the client that verifies the address chose the account's password: it has the ticket of
 * that sign-up, or the password. Call it only after a correct code, and then spend the code.
 */
export async function isOwnSignUp(
  ctx: Pick<Context, 'keyring' | 'passwords'>,
  { passwordHash }: Pick<Account, 'passwordHash'>,
  { ticket, password }: { ticket?: string | undefined; password?: string | undefined },
): Promise<boolean> {
  if (passwordHash === null) return false;
  if (ticket !== undefined && isEqual(ticket, signUpTicket(ctx, passwordHash))) return true;
  return password !== undefined && ctx.passwords.verify(passwordHash, password);
}
