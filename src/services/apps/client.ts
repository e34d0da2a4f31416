import type { Context } from '../../context.ts';
import { isEqual } from '../../crypto/equal.ts';
import { hashOfSecret } from '../../crypto/secret.ts';
import { Account } from '../../database/models/account.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { tallyEvent } from '../events/tally.ts';
import { networkOf } from '../limits/network.ts';

/** An app that has proved itself, and the context in which it acts. */
export interface Client {
  app: OAuthApp;
  as: Context;
}

const owner = { model: Account, as: 'account', attributes: ['disabledAt'], required: true };

/**
 * Proves an app by its client id and secret, its owner's account being enabled; refuses `invalid_client`, the same
 * for every reason (RFC 6749 §5.2).
 */
export async function requireClient(
  ctx: Context,
  given: { client_id?: string | undefined; client_secret?: string | undefined },
): Promise<Client> {
  const { client_id: clientId, client_secret: secret } = given;
  if (clientId === undefined || secret === undefined) {
    throw new Refusal('invalid_client', 'The request does not say which client it comes from.', {
      hint: 'Send client_id and client_secret, in the form or by Basic.',
    });
  }
  const app = await OAuthApp.findOne({ where: { clientId }, include: owner });
  const reason = app === null ? 'no_such_app' : reasonAgainst(app, secret);
  if (app !== null && reason === null) {
    return { app, as: { ...ctx, actor: { kind: 'app', appId: app.id, name: app.name } } };
  }
  await recordRefusedClient(ctx, app, reason);
  throw clientRefused(reason);
}

function reasonAgainst(app: OAuthApp, secret: string): string | null {
  const hash = hashOfSecret('cos_secret_', secret);
  if (hash === null || !isEqual(app.secretHash, hash)) return 'wrong_secret';
  if (app.suspendedAt !== null) return 'suspended';
  return app.account.disabledAt === null ? null : 'account_disabled';
}

/** The one answer to a client that is not accepted; the reason is for the log. */
export function clientRefused(reason: string | null): Refusal {
  return new Refusal('invalid_client', 'The client id or secret is not valid, or the app was revoked.', {
    hint: 'Register the app again, or ask the owner of the app.',
    cause: { reason },
  });
}

/** One counted event per app, or else per client network, in a quarter of an hour (security X5). */
async function recordRefusedClient(ctx: Context, app: OAuthApp | null, reason: string | null): Promise<void> {
  const address = networkOf(ctx.client.address);
  const subject = app === null ? {} : { subject: { type: 'app', id: app.id, name: app.name } };
  const what = { kind: 'app.refused' as const, data: { reason, address }, ...subject };
  await transaction(() => tallyEvent(ctx, what, { of: app?.accountId ?? address, apart: app?.id ?? '' }));
}
