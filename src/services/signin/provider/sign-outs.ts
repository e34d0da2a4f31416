import { randomInt, randomUUID } from 'node:crypto';
import type { Context, Turn } from '../../../context.ts';
import { signLogoutToken } from '../../../crypto/jwt.ts';
import { ClientSignOut } from '../../../database/models/provider-record.ts';
import { unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { finishAll } from '../../../host/queue.ts';
import { keysOfIdTokens } from '../../foundation/keys/signing-key.ts';
import { after } from '../../foundation/time.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { planAfter } from '../../tenancy/webhooks/delivery/plan.ts';
import type { Outcome } from '../../tenancy/webhooks/webhook.ts';
import { noticeEnds } from './ends.ts';
import { claimNext, type Due, findDueClients, readDue } from './sign-outs.sql.ts';

// Back-channel logout: a client gets a message for each session that ended, and for each session of
// a person who may no longer use it.

const maxAtOnce = 100;
/** How long an attempt is reserved for one daemon: longer than any attempt takes. */
const leaseSeconds = 20;

/** Finds the sessions and memberships that have ended, and sends the due messages to clients. */
export async function tellClients(ctx: Context, turn: Turn): Promise<void> {
  await noticeEnds(ctx);
  const due = await findDue(ctx);
  const runs = due.map((client) =>
    serve(ctx, client, turn).catch((cause: unknown) => {
      throw new Error(`the client ${client} was not notified of sign-outs`, { cause });
    }),
  );
  turn.found?.();
  await finishAll(runs);
}

/** The clients to which this process is sending messages. */
const servedClients = remembered(() => new Set<string>());

/** The clients to serve, the longest waiting first. */
async function findDue(ctx: Context): Promise<string[]> {
  const served = servedClients(ctx);
  const clients = await findDueClients(ctx.now, maxAtOnce + served.size);
  return clients.filter((id) => !served.has(id));
}

/**
 * Sends one client's messages in order. Each client has its own run, so clients do not delay each
 * other.
 */
async function serve(ctx: Context, clientId: string, turn: Turn): Promise<void> {
  const served = servedClients(ctx);
  if (served.has(clientId)) return;
  served.add(clientId);
  try {
    while (!turn.stop.aborted && (await tellNext(clientId, turn)));
  } finally {
    served.delete(clientId);
  }
}

/** Notifies a client of one sign-out; false if none is due. */
async function tellNext(clientId: string, turn: Turn): Promise<boolean> {
  const ctx = turn.anew();
  // The lease: if two daemons run at the same time, only one of them can move `next_at`.
  const leasedUntil = after(ctx.now, leaseSeconds);
  const id = await unsynced(() => claimNext(clientId, { now: ctx.now, leasedUntil }));
  if (id === null) return false;
  const due = await readDue(id);
  if (due === null) return true;
  if (due.uri === null) {
    await unsynced(() => ClientSignOut.destroy({ where: { id } }));
    return true;
  }
  const outcome = await send(ctx, due.uri, due, turn.stop);
  if (outcome !== null) await settle(turn.anew(), id, due, outcome);
  return true;
}

/** Sends a logout token, created for each attempt; null if the process is about to end. */
async function send(
  ctx: Context,
  uri: string,
  { clientId, sid, sub, alg }: Due,
  stop: AbortSignal,
): Promise<Outcome | null> {
  const keys = await keysOfIdTokens(ctx);
  const token = await signLogoutToken(keys, alg, {
    iss: ctx.config.baseUrl,
    aud: clientIdOf({ id: clientId }),
    sub,
    sid,
    jti: randomUUID(),
    now: ctx.now,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ logout_token: token }).toString();
  try {
    return { status: await ctx.outbound.postMessage(uri, { headers, body, signal: stop }) };
  } catch (error) {
    if (stop.aborted) return null;
    if (!(error instanceof Refusal)) throw error;
    return { status: null, error: error.message };
  }
}

/** Plans the next attempt as for a webhook. The last attempt, or a success, deletes the row. */
async function settle(ctx: Context, id: string, due: Due, outcome: Outcome): Promise<void> {
  const jitter = randomInt(1000) / 1000;
  const tried = { attempts: due.attempts, failingSince: null, now: ctx.now, jitter };
  const { delivery } = planAfter(outcome, tried);
  const { attempts, nextAt } = delivery;
  await unsynced(async () => {
    if (nextAt === null) await ClientSignOut.destroy({ where: { id } });
    else await ClientSignOut.update({ attempts, nextAt }, { where: { id } });
  });
  if (delivery.status === 'dead') {
    const client = clientIdOf({ id: due.clientId });
    ctx.log.warn({ client, reason: delivery.error }, 'a client was not notified of a sign-out');
  }
}
