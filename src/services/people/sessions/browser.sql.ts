import { execute, select } from '../../../database/select.ts';

// The SQL of the browsers of an account. It runs at every sign-in.

const finding = `SELECT max(CASE WHEN hash = $2 THEN last_seen_at END) AS seen_at, count(*) AS known
  FROM account_browsers WHERE account_id = $1`;

/** When the account last signed in from this browser, or null, and how many browsers are known. */
export async function findSeen(
  accountId: string,
  hash: string,
): Promise<{ seenAt: Date | null; known: number }> {
  const [row] = await select<{ seen_at: Date | null; known: number }>(finding, [accountId, hash], {
    prepared: true,
    columns: { seen_at: 'time' },
  });
  return { seenAt: row?.seen_at ?? null, known: row?.known ?? 0 };
}

const adding = `INSERT INTO account_browsers (account_id, hash, first_seen_at, last_seen_at)
  VALUES ($1, $2, $3, $3) ON CONFLICT DO NOTHING RETURNING 1`;

/** Adds a browser. False if the account already has it. */
export async function addSeen(accountId: string, hash: string, now: Date): Promise<boolean> {
  return (await select(adding, [accountId, hash, now], { prepared: true })).length > 0;
}

const dropping = `DELETE FROM account_browsers WHERE account_id = $1 AND hash IN (
  SELECT hash FROM account_browsers WHERE account_id = $1
   ORDER BY last_seen_at DESC, hash LIMIT 10000 OFFSET $2)`;

/** Deletes all browsers of the account except the last used ones, as many as `kept`. */
export async function dropOldest(accountId: string, kept: number): Promise<void> {
  await execute(dropping, [accountId, kept], { prepared: true });
}

const noting = 'UPDATE account_browsers SET last_seen_at = $3 WHERE account_id = $1 AND hash = $2';

/** Notes a sign-in from this browser. */
export async function noteSeen(accountId: string, hash: string, now: Date): Promise<void> {
  await execute(noting, [accountId, hash, now], { prepared: true });
}

/**
 * The condition that the account has used another browser later. The last one stays, because it
 * shows that the account has signed in before.
 */
export const ofLaterBrowser = `EXISTS (SELECT 1 FROM account_browsers later
  WHERE later.account_id = account_browsers.account_id AND later.last_seen_at > account_browsers.last_seen_at)`;
