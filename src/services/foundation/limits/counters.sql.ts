import { execute, select } from '../../../database/select.ts';

// The SQL of the counters. Instants are seconds since 1970.

/** The count in a window of time, after an increment. */
export interface Counted {
  id: string;
  used: number;
}

/**
 * The SQL condition for a window that has not ended. A window that begins more than a minute from
 * now counts as ended: the clock was set back, and a lockout would last too long. The clocks of two
 * daemons may differ by less.
 */
const lasts = (now: string, of = ''): string =>
  `(${of}began_at + ${of}seconds > ${now} AND ${of}began_at - 60 <= ${now})`;

// This is one conditional upsert, so that parallel counts, in any process, never exceed the limit.
// An ended window begins again. A full window does not return a row.
const lasting = lasts('$5', 'c.');
const upsert = `INSERT INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at)
  VALUES ($1, $2, $3, $9, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET
    window_id = CASE WHEN ${lasting} THEN c.window_id ELSE $3 END,
    used = CASE WHEN ${lasting} THEN c.used + $9 ELSE $9 END,
    seconds = CASE
      WHEN ${lasting} THEN c.seconds
      WHEN c.used < $7 OR c.began_at + 2 * c.seconds <= $5 THEN $4
      WHEN 2 * c.seconds < $8 THEN 2 * c.seconds
      ELSE $8 END,
    began_at = CASE WHEN ${lasting} THEN c.began_at ELSE $5 END,
    expires_at = CASE WHEN c.expires_at > $6 THEN c.expires_at ELSE $6 END
  WHERE c.used + $9 <= $7 OR NOT ${lasting}
  RETURNING window_id AS id, used`;

/** A counter, and how to count in it. */
interface Counting {
  key: string;
  subject: string;
  /** The id of the window, if a new one begins. */
  windowId: string;
  seconds: number;
  now: number;
  expiresAt: number;
  max: number;
  longest: number;
  weight: number;
}

/** Counts in the current window, or begins one; null if the window is full. */
export async function countInWindow(of: Counting): Promise<Counted | null> {
  const { key, subject, windowId, seconds, now, expiresAt, max, longest, weight } = of;
  const [counted = null] = await select<Counted>(
    upsert,
    [key, subject, windowId, seconds, now, expiresAt, max, longest, weight],
    { prepared: true },
  );
  return counted;
}

const decrement = 'UPDATE counters SET used = used - 1 WHERE used > 0 AND key IN';

/** Subtracts one from each of these counts. */
export async function takeBack(keys: string[]): Promise<void> {
  const places = keys.map((_, at) => `$${at + 1}`).join(', ');
  await execute(`${decrement} (${places})`, keys, { prepared: true });
}

/** Subtracts one, and returns the new count; undefined if it was zero. */
export async function takeBackOne(key: string): Promise<number | undefined> {
  const [row] = await select<{ used: number }>(`${decrement} ($1) RETURNING used`, [key]);
  return row?.used;
}

/**
 * The longest time left, in seconds, of the windows whose count exceeds `above`; null if none does.
 * A window that begins after `now` lasts its whole length.
 */
export async function readSecondsLeft(
  now: number,
  counts: { key: string; above: number }[],
): Promise<number | null> {
  const full = counts.map((_, at) => `(key = $${2 * at + 2} AND used > $${2 * at + 3})`);
  const [row] = await select<{ seconds: number | null }>(
    `SELECT max(CASE WHEN began_at > $1 THEN seconds ELSE began_at + seconds - $1 END) AS seconds
      FROM counters
      WHERE ${lasts('$1')} AND (${full.join(' OR ')})`,
    [now, ...counts.flatMap(({ key, above }) => [key, above])],
    { prepared: true },
  );
  return row?.seconds ?? null;
}

const usedNow = `SELECT used FROM counters WHERE key = $1 AND ${lasts('$2')}`;

/** The count in the current window; 0 if there is none. */
export async function readUsed(key: string, now: number): Promise<number> {
  const [row] = await select<{ used: number }>(usedNow, [key, now]);
  return row?.used ?? 0;
}

/** Whether there is a counter of this key. */
export async function hasCounter(key: string): Promise<boolean> {
  const finding = 'SELECT used FROM counters WHERE key = $1';
  return (await select(finding, [key], { prepared: true })).length > 0;
}

/** The subject of a counter that has not expired, or null. */
export async function findSubject(key: string, now: number): Promise<string | null> {
  const finding = 'SELECT subject FROM counters WHERE key = $1 AND expires_at > $2';
  const [row] = await select<{ subject: string }>(finding, [key, now], { prepared: true });
  return row?.subject ?? null;
}

/** The keys of the subject's counters that expire after this instant. */
export async function findKeys(subject: string, after: number): Promise<string[]> {
  const rows = await select<{ key: string }>(
    'SELECT key FROM counters WHERE subject = $1 AND expires_at > $2',
    [subject, after],
  );
  return rows.map(({ key }) => key);
}

/** A row of `counters` that only remembers something. */
interface Remembered {
  key: string;
  subject: string;
  windowId: string;
  beganAt: number;
  expiresAt: number;
}

const renewing =
  'ON CONFLICT (key) DO UPDATE SET subject = excluded.subject, expires_at = excluded.expires_at';

const rememberingNetwork = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at)
  SELECT $1, $2, $3, 0, 0, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM counters WHERE key = $1 AND expires_at > $6)
  ${renewing}`;

/** Writes or renews the row of a network, unless it expires after `unless`. */
export async function writeNetwork(of: Remembered, unless: number): Promise<void> {
  const values = [of.key, of.subject, of.windowId, of.beganAt, of.expiresAt, unless];
  await execute(rememberingNetwork, values, { prepared: true });
}

const rememberingClient = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 0, $4, $5, $6)
  ${renewing}`;

/** Writes or renews the counter of a person's own limit in a network. */
export async function writeOwnCounter(of: Remembered, seconds: number): Promise<void> {
  const values = [of.key, of.subject, of.windowId, seconds, of.beganAt, of.expiresAt];
  await execute(rememberingClient, values, { prepared: true });
}
