import type { CodePurpose } from '../../../database/models/mail-code.ts';
import { select } from '../../../database/select.ts';

// The SQL that counts the attempts with a mailed code.

/** The account and the purpose of a mailed code. */
export interface CodeOf {
  accountId: string;
  purpose: CodePurpose;
}

const take = `UPDATE mail_codes SET tries = tries + 1
  WHERE account_id = $1 AND purpose = $2 AND tries < $3 AND expires_at > $4 RETURNING hash`;
const untake =
  'UPDATE mail_codes SET tries = tries - 1 WHERE account_id = $1 AND purpose = $2 AND hash = $3 AND tries > 0 RETURNING tries';

/** Counts an attempt, and returns the code's stored form; null if no code is valid. */
export async function countTry(
  { accountId, purpose }: CodeOf,
  max: number,
  now: Date,
): Promise<string | null> {
  const [taken] = await select<{ hash: string }>(take, [accountId, purpose, max, now]);
  return taken?.hash ?? null;
}

/** Takes back the count of an attempt with this code. */
export async function takeTryBack({ accountId, purpose }: CodeOf, hash: string): Promise<void> {
  await select(untake, [accountId, purpose, hash]);
}
