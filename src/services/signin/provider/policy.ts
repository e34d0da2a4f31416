import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { eventOfClient, recordBarred, rowIdOf } from '../../tenancy/clients/client.ts';
import type { ClientRow } from './client-row.sql.ts';
import type { LiveSession } from './live-session.sql.ts';
import { readBarred, readGrants } from './read-once.ts';
import { type ProviderRequest, requestNow } from './request.ts';
import { isGrantTaken } from './store.ts';

/** Every scope that idctl knows. A grant includes all; a request names the scopes it wants. */
export const scopes = ['openid', 'profile', 'email', 'groups', 'offline_access'];

/**
 * The checks of an authorization request: a sign-in (a fresh one if requested), then the client's
 * organization and role. There is no consent page; `prompt=consent` is accepted without one.
 */
export function createPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.remove('consent');
  const { Check, Prompt } = interactionPolicy;
  // The sign-in page is where a person chooses another account.
  policy.add(new Prompt({ name: 'select_account', requestable: true }));
  const consent = new Prompt(
    { name: 'consent', requestable: true },
    new Check('admitted', 'the person may use the application', async (koa) => {
      await admitPerson(requestNow(), koa);
      return Check.NO_NEED_TO_PROMPT;
    }),
  );
  consent.checks.remove('consent_prompt');
  policy.add(consent);
  return policy;
}

async function admitPerson(visit: ProviderRequest, koa: KoaContextWithOIDC): Promise<void> {
  const { ctx, session, clients } = visit;
  const { client, params } = koa.oidc;
  const row = clients.get(client?.clientId ?? '');
  if (session === null || row === undefined) throw new errors.LoginRequired();
  const expected = params?.['expected_sub'];
  if (expected !== undefined && expected !== session.accountId)
    throw new errors.LoginRequired('The person who signed in is not the one in id_token_hint.');
  const barred = await readBarred(visit, row, session.accountId);
  if (barred !== null) {
    await recordBarred(ctx, row, { accountId: session.accountId, reason: barred });
    throw new errors.AccessDenied('This person may not use the application.');
  }
  await requireGrant(ctx, koa, row, session);
}

/** Creates the one grant of the session and client, unless it exists. */
async function requireGrant(
  ctx: Context,
  koa: KoaContextWithOIDC,
  client: ClientRow,
  session: LiveSession,
): Promise<void> {
  const { grant, session: bound } = koa.oidc;
  const clientId = koa.oidc.client?.clientId ?? '';
  if (grant === undefined || bound === undefined) throw new Error('a request without a grant');
  if (bound.grantIdFor(clientId) !== undefined) return;
  grant.addOIDCScope(scopes);
  try {
    await transaction(async () => {
      await grant.save();
      // An application can end and begin grants as often as it likes, so the starts share an event.
      const data = { account: session.accountId, session: session.id };
      const what = { kind: 'client.session.started' as const, ...eventOfClient(client), data };
      await tallyEvent(ctx, what, { of: session.id, apart: client.id });
    });
  } catch (error) {
    if (!isGrantTaken(error)) throw error;
    // The rows of this request were read before the other request created the grant.
    const found = await grantOf({ session, read: null }, koa);
    if (found === undefined) throw error;
    koa.oidc.entity('Grant', found);
    return bound.grantIdFor(clientId, found.jti);
  }
  bound.grantIdFor(clientId, grant.jti);
}

/** The grant of the request's session and client, or undefined. */
export async function findGrant(koa: KoaContextWithOIDC) {
  return grantOf(requestNow(), koa);
}

async function grantOf(
  visit: Pick<ProviderRequest, 'session' | 'read'>,
  { oidc }: KoaContextWithOIDC,
) {
  const { session } = visit;
  const clientId = oidc.client?.clientId ?? '';
  if (session === null) return undefined;
  oidc.session?.ensureClientContainer(clientId);
  oidc.session?.sidFor(clientId, session.id);
  const row = rowIdOf(clientId);
  const grantId = (await readGrants(visit, session.id)).find(
    (one) => one.clientId === row,
  )?.grantId;
  return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
}
