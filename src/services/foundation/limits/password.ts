import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { networkOf } from '../../../text/address.ts';
import {
  findKeys,
  findSubject,
  hasCounter,
  writeNetwork,
  writeOwnCounter,
} from './counters.sql.ts';
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

/**
 * The known client of this request, or null. Strangers cannot delay the password hashing for a
 * known client (security P8). For 30 days after a sign-in, its network counts as the account that
 * signed in. So one account is one client on all its networks. The e-mail address in the request
 * plays no part, so the wait does not reveal which accounts exist.
 */
export async function knownClient(ctx: Context): Promise<string | null> {
  if (ctx.client.address === null) return null;
  return findSubject(keyOf(ctx, here(ctx)), epochSeconds(ctx.now));
}

async function rememberNetwork(ctx: Context, email: string): Promise<void> {
  const beganAt = epochSeconds(ctx.now);
  const expiresAt = beganAt + recent;
  const row = {
    key: keyOf(ctx, here(ctx)),
    subject: subjectOf(ctx, `client ${email}`),
    windowId: randomUUIDv7(),
    beganAt,
    expiresAt,
  };
  // A row less than a day old stays unchanged: sign-ins from one network do not wait for each other.
  await writeNetwork(row, expiresAt - day);
}

function here(ctx: Context) {
  return { name: 'known client', of: networkOf(ctx.client.address) };
}

/**
 * The limits of a password attempt: one for the account and one for the client. Each network where
 * the person has signed in lately has its own limit, so that strangers elsewhere cannot use it up
 * (security P8).
 */
export async function passwordLimits(ctx: Context, email: string): Promise<Limit[]> {
  if (ctx.config.limits.enabled === 'off') return [];
  const own = ownLimit(ctx, email);
  const known = await hasCounter(keyOf(ctx, own));
  return [known ? own : sharedPasswordLimit(ctx, email), clientLimit(ctx)];
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
  const beganAt = epochSeconds(ctx.now);
  // This counter shows that the person is known in the network.
  const row = {
    key: keyOf(ctx, own),
    // The subject is the mailbox, so that `isStranger` finds the person under any `+tag`.
    subject: subjectOf(ctx, mailboxOf(email)),
    windowId: randomUUIDv7(),
    beganAt,
    expiresAt: beganAt + recent,
  };
  await writeOwnCounter(row, own.seconds);
  // The counts are given back last, as in a sign-in by password, so that no two sign-ins deadlock.
  await giveBack(ctx, counted);
}

/** Whether the person of this mailbox has signed in lately, but not here with this address. */
export async function isStranger(ctx: Context, email: string): Promise<boolean> {
  // A counter expires at most two days from now. Only a remembered sign-in lasts longer.
  const remembered = epochSeconds(ctx.now) + 2 * day;
  const keys = await findKeys(subjectOf(ctx, mailboxOf(email)), remembered);
  return keys.length > 0 && !keys.includes(keyOf(ctx, ownLimit(ctx, email)));
}

function ownLimit(ctx: Context, email: string): Limit & { apart: string } {
  return { ...sharedPasswordLimit(ctx, email), apart: networkOf(ctx.client.address) };
}

/** The password limit of an account for all networks where the person has not signed in lately. */
function sharedPasswordLimit({ config }: Pick<Context, 'config'>, email: string): Limit {
  const { accountFailures: max } = config.limits;
  return { name: 'password', of: email, max, seconds: 900, longest: day };
}

/** The limit of wrong second-factor codes of an account: five in 15 minutes (security P12). */
export function codeLimit(accountId: string): Limit {
  return { name: 'code', of: accountId, max: 5, seconds: 900 };
}

/** The limit of refusals that one client may get in a minute. */
export function clientLimit(ctx: Context): Limit {
  const { addressFailures: max } = ctx.config.limits;
  return { name: 'failures', of: networkOf(ctx.client.address), max, seconds: 60 };
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
    if (await hasCounter(keyOf(ctx, limit))) places.push({ of: 'password', network, limit });
  }
  return places;
}

/** The networks of the person's sessions, even ended ones. Each may have its own limit. */
async function networksOf(accountId: string): Promise<string[]> {
  const sessions = await Session.findAll({ where: { accountId }, attributes: ['address'] });
  return [...new Set(sessions.map(({ address }) => networkOf(address)))];
}
