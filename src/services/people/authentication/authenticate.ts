import type { Actor, Context } from '../../../context.ts';
import { hashOfSecret, isEqual } from '../../../crypto/secret.ts';
import type { Along, ReadAlong } from '../../../database/along.ts';
import { Refusal } from '../../../errors.ts';
import { readToken } from '../sessions/tokens.ts';
import { noteUse, tokenUses } from '../tokens/token.ts';
import { findLive, findToken } from './authenticate.sql.ts';

/**
 * Finds the actor of a personal access, bot or session token (spec §5.1). Each call reads the row
 * and the account, so revocation works immediately (security P2). Refuses with
 * `invalid_credential`. With `along`, more of the account is read in the same statement.
 */
export async function authenticate(
  ctx: Context,
  credential: string,
  along?: Along<object>,
): Promise<Actor> {
  const token = isAccessToken(credential);
  const actor = token
    ? await findTokenActor(ctx, credential, along)
    : await findSessionActor(ctx, credential, along);
  if (actor !== null) return actor;
  throw token
    ? new Refusal('invalid_credential', 'The token is not valid, has expired or was revoked.', {
        hint: 'Send the whole token, or create a new one.',
      })
    : new Refusal(
        'invalid_credential',
        'The credential is not valid, has expired or was revoked.',
        {
          hint: 'Refresh the session or sign in again. Send a personal access token whole.',
        },
      );
}

async function findSessionActor(
  ctx: Context,
  credential: string,
  along?: Along<object>,
): Promise<Actor | null> {
  const claims = await readToken(ctx, credential, 'at+jwt');
  if (claims === null) return null;
  const rows = await findLive(claims, along);
  const [holder] = rows;
  if (holder === undefined) return null;
  const { accountId, name } = holder;
  const session = { via: 'session', sessionId: claims.sid } as const;
  return { kind: 'user', accountId, name, ...session, ...readAlong(rows, along) };
}

function readAlong(rows: object[], by: Along<object> | undefined): { along?: ReadAlong } {
  return by === undefined ? {} : { along: { by, rows } };
}

/** Whether the credential looks like a personal access or bot token, valid or not (spec §5.1). */
function isAccessToken(credential: string): boolean {
  return credential.startsWith('cos_pat_');
}

/** The actor of a live token, or null. */
async function findTokenActor(
  ctx: Context,
  credential: string,
  along?: Along<object>,
): Promise<Actor | null> {
  const hash = hashOfSecret('cos_pat_', credential);
  if (hash === null) return null;
  const rows = await findToken(hash, along);
  const [row] = rows;
  if (row === undefined || !isEqual(row.hash, hash)) return null;
  if (row.expiresAt !== null && row.expiresAt <= ctx.now) return null;
  noteUse(tokenUses(ctx), row.id, { now: ctx.now, lastUsedAt: row.lastUsedAt });
  const { id: tokenId, kind: via, scope, accountId, name } = row;
  return { kind: 'user', accountId, name, via, tokenId, scope, ...readAlong(rows, along) };
}
