import { execute, select } from '../../../database/select.ts';

const finding = 'SELECT last_seen_at FROM account_browsers WHERE account_id = $1 AND hash = $2';

/** When the account last signed in from this browser, to the day; null if it has not. */
export async function findSeen(accountId: string, hash: string): Promise<Date | null> {
  const [row] = await select<{ last_seen_at: Date }>(finding, [accountId, hash], {
    prepared: true,
    columns: { last_seen_at: 'time' },
  });
  return row?.last_seen_at ?? null;
}

const listing =
  'SELECT hash FROM account_browsers WHERE account_id = $1 ORDER BY last_seen_at DESC, hash';

/** The browsers of the account, the last used first. */
export async function listHashes(accountId: string): Promise<string[]> {
  const rows = await select<{ hash: string }>(listing, [accountId], { prepared: true });
  return rows.map(({ hash }) => hash);
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
