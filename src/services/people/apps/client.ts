import type { Context } from '../../../context.ts';
import { hashOfSecret, isEqual } from '../../../crypto/secret.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import type { Reason } from '../../../reasons.ts';
import { networkOf, siteOf } from '../../../text/address.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { type Limit, requireRoom, spend } from '../../foundation/limits/limit.ts';
import { type FoundApp, findApp, type ProvedApp } from './apps.sql.ts';

/** An authenticated app, and the context in which it acts. */
export interface AppClient {
  app: ProvedApp;
  as: Context;
}

/**
 * Authenticates an app whose owner's account is enabled. Refuses with `invalid_client`, the same
 * for every reason (RFC 6749 §5.2), or `too_many_requests` (security P8).
 */
export async function requireClient(
  ctx: Context,
  given: { client_id?: string | undefined; client_secret?: string | undefined },
): Promise<AppClient> {
  const { client_id: clientId, client_secret: secret } = given;
  if (clientId === undefined || secret === undefined) {
    throw new Refusal('invalid_client', 'The request has no client_id or no client_secret.', {
      hint: 'Send client_id and client_secret, in the form or with HTTP Basic authentication.',
    });
  }
  const app = await findApp(clientId);
  const reason = app === null ? 'no_such_app' : reasonAgainst(app, secret);
  if (app !== null && reason === null) {
    return { app, as: { ...ctx, actor: { kind: 'app', appId: app.id, name: app.name } } };
  }
  const limits = [refusedClientsLimit(ctx)];
  await requireRoom(ctx, limits);
  await spend(ctx, limits);
  await recordRefusedClient(ctx, app, reason);
  throw clientRefused(reason);
}

/**
 * The limit on refused apps and clients of one network. Counts only refusals, so that others in the
 * network cannot block a working app.
 */
export function refusedClientsLimit({ client, config }: Context): Limit {
  const { tokenRequests: max } = config.limits;
  return { name: 'refused clients', of: networkOf(client.address), max, seconds: 60 };
}

function reasonAgainst(app: FoundApp, secret: string): Reason | null {
  const hash = hashOfSecret('cos_secret_', secret);
  if (hash === null || !isEqual(app.secretHash, hash)) return 'wrong_secret';
  if (app.suspendedAt !== null) return 'suspended';
  return app.disabledAt === null ? null : 'account_disabled';
}

/** The answer to a refused client, always the same; only the log and the event get the reason. */
export function clientRefused(reason: Reason | null): Refusal {
  return new Refusal(
    'invalid_client',
    'The client id or secret is not valid, or the app was revoked.',
    {
      hint: 'Ask the owner of the app to regenerate its secret, or to register a new app.',
      reason: reason ?? undefined,
    },
  );
}

/** Records one counted event per app, or per site for unknown apps, in 15 minutes (security X5). */
async function recordRefusedClient(
  ctx: Context,
  app: FoundApp | null,
  reason: Reason | null,
): Promise<void> {
  const address = networkOf(ctx.client.address);
  const subject = app === null ? {} : { subject: { type: 'app', id: app.id, name: app.name } };
  const what = { kind: 'app.refused' as const, data: { reason, address }, ...subject };
  const of = app?.accountId ?? siteOf(ctx.client.address);
  await transaction(() => tallyEvent(ctx, what, { of, apart: app?.id ?? '' }));
}
