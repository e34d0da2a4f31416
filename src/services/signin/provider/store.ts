import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { violatedUnique } from '../../../database/unique.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { touchSession } from '../../people/sessions/sessions.sql.ts';
import { eventOfClient } from '../../tenancy/clients/client.ts';
import {
  consumeRecord,
  deleteRecord,
  deleteRecordsOf,
  endGrant,
  findGrantedClient,
  findGrantId,
  insertRecord,
  type NewRecord,
} from './grants.sql.ts';
import { readRecord } from './read-once.ts';
import { idOf } from './reading.sql.ts';
import { type ProviderRequest, requestNow } from './request.ts';

// Codes, tokens and grants. A row has the SHA-256 of the value, and everything else that the
// package stores. It does not contain credentials.

/** The adapter that stores one of the package's models. */
export function storedAdapter(model: string): Adapter {
  return {
    upsert: (id, payload) => keep(requestNow(), model, id, payload),
    async find(id) {
      const row = await readRecord(requestNow(), idOf(model, id));
      if (row === undefined) return undefined;
      return { ...row.payload, jti: id, ...(row.consumedAt === null ? {} : { consumed: true }) };
    },
    async consume(id) {
      // `keepAccess` spends a code, in the transaction that stores the code's access token.
      if (model === 'AuthorizationCode') return;
      const { ctx } = requestNow();
      if (!(await transaction(() => spend(ctx, model, id)))) await refuseReuse(ctx, model, id);
    },
    destroy: (id) =>
      transaction(async () => {
        // At the token endpoint, the package ends a grant only for reuse.
        const isReuse = model === 'Grant' && Provider.ctx?.oidc.route === 'token';
        if (isReuse) await recordReuse(requestNow().ctx, id);
        await deleteRecord(idOf(model, id));
      }),
    revokeByGrantId: (grantId) => transaction(() => deleteRecordsOf(grantId, model)),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
}

async function keep(
  { ctx, session, clients }: ProviderRequest,
  model: string,
  id: string,
  payload: AdapterPayload,
): Promise<void> {
  const { jti: _value, consumed: _consumed, ...rest } = payload;
  const isGrant = model === 'Grant';
  const sessionId = isGrant ? session?.id : rest.sessionUid;
  const client = clients.get(rest.clientId ?? '');
  const { accountId } = rest;
  if (
    sessionId === undefined ||
    accountId === undefined ||
    client === undefined ||
    rest.exp === undefined
  )
    throw new Error(`a ${model} without session, account, client or end`);
  const row = {
    id: idOf(model, id),
    model,
    grantId: isGrant ? id : rest.grantId,
    sessionId,
    clientId: client.id,
    payload: rest,
    expiresAt: new Date(rest.exp * 1000),
  };
  const insert = () => insertAdmitted(ctx, row, accountId);
  if (model === 'AccessToken') return keepAccess(ctx, accountId, insert);
  // A code lost in a power cut is requested again, so its write need not be synced.
  const write = model === 'AuthorizationCode' ? unsynced : transaction;
  await write(async () => {
    await hold.accounts([accountId], 'beside');
    // A code counts as two: itself, and the tokens that it gives.
    if (model === 'AuthorizationCode') await requireTurn(ctx, sessionId, client.id, 2);
    await insert();
  });
}

/** Stores an access token. If a code gives it, spends the code in the same transaction. */
async function keepAccess(
  ctx: Context,
  accountId: string,
  insert: () => Promise<void>,
): Promise<void> {
  const { AuthorizationCode: source, RefreshToken: refreshed } = Provider.ctx?.oidc.entities ?? {};
  // Without this check, a code that the package no longer shows here would stay unspent.
  if (source === undefined && refreshed === undefined)
    throw new Error('an access token without a code or refresh token');
  const code = source?.jti;
  // An access token lost in a power cut is requested again. A spent code must stay spent.
  const write = code === undefined ? unsynced : transaction;
  const isSpent = await write(async () => {
    await hold.accounts([accountId], 'beside');
    if (code !== undefined && !(await spend(ctx, 'AuthorizationCode', code))) return true;
    await insert();
    return false;
  });
  if (code !== undefined && isSpent) await refuseReuse(ctx, 'AuthorizationCode', code);
}

/**
 * Inserts the row, or refuses if the person may no longer use the client: the row would be valid
 * again with the next membership. Hold the account first, as code that ends a membership does. So
 * a membership ends before this check, or its end also removes the row.
 */
async function insertAdmitted(ctx: Context, row: NewRecord, accountId: string): Promise<void> {
  if (await insertRecord(ctx, row, accountId)) return;
  if (row.model === 'Grant' || row.model === 'AuthorizationCode')
    throw new errors.AccessDenied('This person may not use the application.');
  throw new errors.InvalidGrant('the membership has ended');
}

/** Limits a session's codes and tokens at a client, as each is a row. Call it in a transaction. */
async function requireTurn(
  ctx: Context,
  sessionId: string,
  clientId: string,
  weight: number,
): Promise<void> {
  const { tokenRequests: max } = ctx.config.limits;
  const limit = {
    name: 'client requests',
    of: sessionId,
    apart: clientId,
    max,
    weight,
    seconds: 60,
  };
  await requirePlace(ctx, limit, 'The application sent too many requests.');
}

/** Whether the error means that another request has just created this grant. */
export function isGrantTaken(error: unknown): boolean {
  return violatedUnique(error)?.table === 'provider_records';
}

/**
 * Uses up a code or refresh token with one conditional UPDATE; false if it was used before. Call it
 * inside a transaction.
 */
async function spend(ctx: Context, model: string, value: string): Promise<boolean> {
  const row = await consumeRecord(idOf(model, value), ctx.now);
  if (row === null) return false;
  // A code was counted when it was created.
  if (model === 'AuthorizationCode') return true;
  await requireTurn(ctx, row.sessionId, row.clientId, 1);
  // A refresh counts as a use of the session.
  await touchSession(row.sessionId, ctx.now);
  return true;
}

/** Refuses a second use, which ends the grant with all its codes and tokens. */
async function refuseReuse(ctx: Context, model: string, value: string): Promise<never> {
  const grantId = await findGrantId(idOf(model, value));
  if (grantId !== null) {
    await transaction(async () => {
      await recordReuse(ctx, grantId);
      await endGrant(grantId);
    });
  }
  throw new errors.InvalidGrant(`${model} already used`);
}

/** Records that a code or refresh token was used again. Call it before the grant ends. */
async function recordReuse(ctx: Context, grantId: string): Promise<void> {
  const client = await findGrantedClient(grantId);
  if (client === null) return;
  await recordEvent(ctx, {
    kind: 'client.reuse.detected',
    ...eventOfClient(client),
    data: { session: client.sessionId },
  });
}
