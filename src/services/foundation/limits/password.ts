import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { execute, select } from '../../../database/select.ts';
import { networkOf } from '../../../text/address.ts';
import {
  epochSeconds,
  giveBack,
  keyOf,
  type Limit,
  mailboxOf,
  readCount,
  subjectOf,
} from './limit.ts';

// A known network is a row of `counters` that counts nothing. Its key is the network, and its
// subject is an account that has signed in there lately.

const day = 86_400;
const recent = 30 * day;

const findingClient = 'SELECT subject FROM counters WHERE key = $1 AND expires_at > $2';
// A row less than a day old stays unchanged: sign-ins from one network do not wait for each other.
const rememberingNetwork = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at)
  SELECT $1, $2, $3, 0, 0, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM counters WHERE key = $1 AND expires_at > $6)
  ON CONFLICT (key) DO UPDATE SET subject = excluded.subject, expires_at = excluded.expires_at`;

/**
 * The known client of this request, or null. Strangers cannot delay the password hashing for a
 * known client (security P8). For 30 days after a sign-in, its network counts as the account that
 * signed in. So one account is one client on all its networks. The e-mail address in the request
 * plays no part, so the wait does not reveal which accounts exist.
 */
export async function knownClient(ctx: Context): Promise<string | null> {
  if (ctx.client.address === null) return null;
  const values = [keyOf(ctx, here(ctx)), epochSeconds(ctx.now)];
  const [known] = await select<{ subject: string }>(findingClient, values, { prepared: true });
  return known?.subject ?? null;
}

async function rememberNetwork(ctx: Context, email: string): Promise<void> {
  const now = epochSeconds(ctx.now);
  const whose = subjectOf(ctx, `client ${email}`);
  const times = [now, now + recent, now + recent - day];
  const values = [keyOf(ctx, here(ctx)), whose, randomUUIDv7(), ...times];
  await execute(rememberingNetwork, values, { prepared: true });
}

function here(ctx: Context) {
  return { name: 'known client', of: networkOf(ctx.client.address) };
}

// The counter of a person's own limit in a network. If it exists, the person is known there.
const rememberingClient = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 0, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET subject = excluded.subject, expires_at = excluded.expires_at`;

/**
 * The limits of a password attempt: one for the account and one for the client. Each network where
 * the person has signed in lately has its own limit, so that strangers elsewhere cannot use it up
 * (security P8).
 */
export async function passwordLimits(ctx: Context, email: string): Promise<Limit[]> {
  if (ctx.config.limits.enabled === 'off') return [];
  const own = ownLimit(ctx, email);
  const known = await isRemembered(ctx, own);
  return [known ? own : sharedPasswordLimit(ctx, email), clientLimit(ctx)];
}

/** Whether the network has a limit of its own for this account. */
async function isRemembered(ctx: Context, own: Limit): Promise<boolean> {
  const finding = 'SELECT used FROM counters WHERE key = $1';
  return (await select(finding, [keyOf(ctx, own)], { prepared: true })).length > 0;
}

/**
 * Remembers a sign-in from this network for 30 days, and takes its attempt back from the limits in
 * `counted`. Call it inside the sign-in's transaction.
 */
export async function rememberClient(
  ctx: Context,
  email: string,
  counted: Limit[] = [],
): Promise<void> {
  await rememberNetwork(ctx, email);
  if (ctx.config.limits.enabled === 'off') return;
  const own = ownLimit(ctx, email);
  const now = epochSeconds(ctx.now);
  const window = [randomUUIDv7(), own.seconds, now, now + recent];
  // The subject is the mailbox, so that `isStranger` finds the person under any `+tag`.
  const values = [keyOf(ctx, own), subjectOf(ctx, mailboxOf(email)), ...window];
  await execute(rememberingClient, values, { prepared: true });
  // The counts are given back last, as in a sign-in by password, so that no two sign-ins deadlock.
  await giveBack(ctx, counted);
}

/** Whether the person of this mailbox has signed in lately, but not here with this address. */
export async function isStranger(ctx: Context, email: string): Promise<boolean> {
  // A counter expires at most two days from now. Only a remembered sign-in lasts longer.
  const remembered = epochSeconds(ctx.now) + 2 * day;
  const rows = await select<{ key: string }>(
    'SELECT key FROM counters WHERE subject = $1 AND expires_at > $2',
    [subjectOf(ctx, mailboxOf(email)), remembered],
  );
  const here = keyOf(ctx, ownLimit(ctx, email));
  return rows.length > 0 && rows.every(({ key }) => key !== here);
}

function ownLimit(ctx: Context, email: string): Limit & { apart: string } {
  return { ...sharedPasswordLimit(ctx, email), apart: networkOf(ctx.client.address) };
}

/** The password limit of an account for all networks where the person has not signed in lately. */
function sharedPasswordLimit({ config }: Pick<Context, 'config'>, email: string): Limit {
  const { accountFailures: most } = config.limits;
  return { name: 'password', of: email, most, seconds: 900, longest: day };
}

/** The limit of wrong second-factor codes of an account: five in 15 minutes (security P12). */
export function codeLimit(accountId: string): Limit {
  return { name: 'code', of: accountId, most: 5, seconds: 900 };
}

/** The limit of refusals that one client may get in a minute. */
export function clientLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'failures', of: networkOf(ctx.client.address), most, seconds: 60 };
}

/** A lockout: after too many refusals, attempts for an account are refused for a while. */
interface Lockout {
  of: 'password' | 'secondFactor';
  /** The only network that is locked out, where the person has signed in; null means all others. */
  network: string | null;
  until: string;
}

/** The account's lockouts and when they end: its password by network, and its second factor. */
export async function listLockouts(
  ctx: Context,
  account: Pick<Account, 'id' | 'email'>,
): Promise<Lockout[]> {
  if (ctx.config.limits.enabled === 'off') return [];
  const code = { of: 'secondFactor' as const, network: null, limit: codeLimit(account.id) };
  const lockouts: Lockout[] = [];
  for (const { of, network, limit } of [...(await findPasswordPlaces(ctx, account)), code]) {
    const { until } = await readCount(ctx, limit);
    if (until !== null) lockouts.push({ of, network, until: until.toISOString() });
  }
  return lockouts;
}

/**
 * An account's password limits: one for each network with a recent sign-in, and one for all others.
 */
export async function findPasswordPlaces(
  ctx: Context,
  { id, email }: Pick<Account, 'email'> & { id: string | null },
) {
  const shared = sharedPasswordLimit(ctx, email ?? id ?? '');
  const places: { of: 'password'; network: string | null; limit: Limit }[] = [
    { of: 'password', network: null, limit: shared },
  ];
  for (const network of id === null ? [] : await networksOf(id)) {
    const limit = { ...shared, apart: network };
    if (await isRemembered(ctx, limit)) places.push({ of: 'password', network, limit });
  }
  return places;
}

/** The networks of the person's sessions, even ended ones. Each may have its own limit. */
async function networksOf(accountId: string): Promise<string[]> {
  const sessions = await Session.findAll({ where: { accountId }, attributes: ['address'] });
  return [...new Set(sessions.map(({ address }) => networkOf(address)))];
}
