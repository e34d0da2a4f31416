import type { Context } from '../../../context.ts';
import { hashOfToken, randomToken } from '../../../crypto/secret.ts';
import { isProvedForGood } from '../../../database/models/account.ts';
import { HostSession, HostTicket } from '../../../database/models/host-session.ts';
import { insertRow } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { after } from '../../foundation/time.ts';
import { type Barred, barredBy, holdAdmitted } from './admits.ts';
import { recordBarred } from './client.ts';
import { findAccountOf, findAtHost, findProtecting, type ProtectingClient } from './forward.sql.ts';

// Forward auth: a proxy asks about each request to a protected origin. A ticket carries the
// browser's session to the origin once. Then the browser has a cookie that is valid only there.

const ticketSeconds = 30;

interface SignedInPerson {
  accountId: string;
  /** Empty unless it is verified, because applications identify people by it. */
  email: string;
  name: string;
  /** The role in the organization, then `project:role` for each project. */
  groups: string[];
}

/** Whether the origin belongs to a client. */
export async function isProtected(origin: string): Promise<boolean> {
  return (await findProtecting(origin)) !== null;
}

async function requireProtected(origin: string): Promise<ProtectingClient> {
  const client = await findProtecting(origin);
  if (client === null) throw notProtected(origin);
  return client;
}

function notProtected(origin: string): Refusal {
  return new Refusal('forbidden', `No application is registered at ${origin}.`, {
    hint: ['An admin can register it.', { to: 'register it', operation: 'client.allow-origin' }],
  });
}

/** The cookie for a browser that starts at the origin, and its hash. Keeps a known cookie. */
export async function beginAtHost(
  origin: string,
  known: string | undefined,
): Promise<{ cookie: string; browser: string }> {
  await requireProtected(origin);
  const cookie = known ?? randomToken(256);
  return { cookie, browser: hashOfToken(cookie) };
}

/**
 * The person of the cookie at this origin; null if it is not valid. Refuses a person who may not
 * use the client.
 */
export async function findSignedIn(
  ctx: Context,
  origin: string,
  cookie: string | undefined,
): Promise<SignedInPerson | null> {
  if (cookie === undefined) {
    await requireProtected(origin);
    return null;
  }
  const { client, person } = await findAtHost(ctx, origin, hashOfToken(cookie));
  if (client === null) throw notProtected(origin);
  if (person === null) return null;
  const { accountId, personName: name, memberRole, projects } = person;
  await refuseBarred(ctx, client, { accountId, reason: barredBy(client, person) });
  const slug = (role: string) => role.split(':')[0] ?? '';
  const inProjects = projects?.split(',').toSorted((a, b) => (slug(a) < slug(b) ? -1 : 1)) ?? [];
  const email = isProvedForGood(person) ? (person.email ?? '') : '';
  return { accountId, name, email, groups: [`${memberRole}`, ...inProjects] };
}

/**
 * Runs `write` if the person may use the client; otherwise refuses. The membership cannot end
 * before the write is committed.
 */
async function writeIfAdmitted(
  ctx: Context,
  { client, accountId }: { client: ProtectingClient; accountId: string },
  write: () => Promise<unknown>,
): Promise<void> {
  const barred = await transaction(async () => {
    const reason = await holdAdmitted(ctx, client, accountId);
    if (reason === null) await write();
    return reason;
  });
  await refuseBarred(ctx, client, { accountId, reason: barred });
}

/** Refuses an account that may not use the client, for this reason. With null, does nothing. */
async function refuseBarred(
  ctx: Context,
  client: ProtectingClient,
  { accountId, reason }: { accountId: string; reason: Barred | null },
): Promise<void> {
  if (reason === null) return;
  await recordBarred(ctx, client, { accountId, reason });
  // Shows the host, because a stranger must not learn the client's name.
  const { host } = new URL(client.origin);
  throw new Refusal('forbidden', `You cannot open ${host} with this account.`, {
    hint: 'Sign in with another account, or ask your administrator.',
    reason,
  });
}

interface Going {
  origin: string;
  /** The hash of the cookie that the browser got at the origin. */
  browser: string;
  /** A path at the origin. */
  to: string;
  /** Whether the sign-in began again, because a ticket did not belong to the browser. */
  restarted: boolean;
}

/** Creates a ticket for the signed-in person. Returns the URL that accepts the ticket. */
export async function issueTicket(
  ctx: Context,
  { origin, browser, to, restarted }: Going,
): Promise<string> {
  const client = await requireProtected(origin);
  const { actor } = ctx;
  if (actor.kind !== 'user' || actor.via !== 'session')
    throw new Refusal(
      'session_required',
      'Only a session can open an application. Sign in with a browser.',
    );
  const { accountId } = actor;
  const ticket = randomToken(256);
  const row = {
    id: hashOfToken(ticket),
    session_id: actor.sessionId,
    origin,
    browser,
    return_to: to,
    expires_at: after(ctx.now, ticketSeconds),
  };
  await writeIfAdmitted(ctx, { client, accountId }, () => insertRow('host_tickets', row));
  const query = new URLSearchParams({ ticket, ...(restarted && { restarted: '1' }) });
  return `${origin}/.idctl/ticket?${query}`;
}

interface Spending extends Pick<Going, 'origin' | 'restarted'> {
  /** The cookie that the browser got at the origin. */
  browser: string | undefined;
  ticket: string;
}

/**
 * Spends a ticket in the browser that began at the origin. Returns the value of the new cookie, and
 * the path to go to. In another browser, `cookie` is null: the sign-in must begin again, once,
 * because two tabs may have begun before the browser had a cookie. Every refusal reads the same.
 */
export async function spendTicket(
  ctx: Context,
  { origin, browser, ticket, restarted }: Spending,
): Promise<{ cookie: string | null; to: string }> {
  const client = await requireProtected(origin);
  const spent = await transaction(() => takeTicket(hashOfToken(ticket)));
  if (spent === null || spent.origin !== origin || spent.expiresAt <= ctx.now)
    throw ticketInvalid();
  if (browser === undefined || spent.browser !== hashOfToken(browser)) {
    if (restarted) throw ticketInvalid();
    return { cookie: null, to: spent.returnTo };
  }
  const accountId = await findAccountOf(ctx, spent.sessionId);
  if (accountId === null) throw ticketInvalid();
  const cookie = randomToken(256);
  await writeIfAdmitted(ctx, { client, accountId }, async () => {
    // Replaces an earlier cookie of this session at the origin.
    const { sessionId } = spent;
    await HostSession.destroy({ where: { sessionId, origin } });
    await HostSession.create({ id: hashOfToken(cookie), sessionId, origin, createdAt: ctx.now });
  });
  return { cookie, to: spent.returnTo };
}

/**
 * Deletes the ticket and returns it. If several requests use it at the same time, only one gets it.
 */
async function takeTicket(id: string): Promise<HostTicket | null> {
  const found = await HostTicket.findByPk(id);
  return found !== null && (await HostTicket.destroy({ where: { id } })) === 1 ? found : null;
}

function ticketInvalid(): Refusal {
  return new Refusal('forbidden', 'This link is invalid or has expired.', {
    hint: 'Open the application again.',
  });
}
