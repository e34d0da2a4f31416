import type { Actor, Context } from '../../../context.ts';
import { hashOfSecret, isEqual } from '../../../crypto/secret.ts';
import type { TokenKind, TokenScope } from '../../../database/models/access-token.ts';
import { select } from '../../../database/select.ts';
import { Refusal } from '../../../errors.ts';
import { readToken } from '../sessions/tokens.ts';
import { noteUse, tokenUses } from '../tokens/token.ts';

/**
 * Finds the actor of a personal access, bot or session token (spec §5.1). Each call reads the row
 * and the account, so revocation works immediately (security P2). Refuses with
 * `invalid_credential`.
 */
export async function authenticate(ctx: Context, credential: string): Promise<Actor> {
  const token = isAccessToken(credential);
  const actor = token
    ? await findTokenActor(ctx, credential)
    : await findSessionActor(ctx, credential);
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

async function findSessionActor(ctx: Context, credential: string): Promise<Actor | null> {
  const claims = await readToken(ctx, credential, 'at+jwt');
  const row = claims === null ? undefined : await findLive(claims.sid, claims.sub);
  if (claims === null || row === undefined) return null;
  return {
    kind: 'user',
    accountId: row.account_id,
    name: row.name,
    via: 'session',
    sessionId: claims.sid,
  };
}

/**
 * The account of a session that has not ended. Checks no expiry, because no token outlives its
 * session. Bypasses the ORM, as it runs on every request.
 */
async function findLive(sessionId: string, accountId: string) {
  const [row] = await select<{ account_id: string; name: string }>(
    `SELECT a.id AS account_id, a.name FROM sessions s JOIN accounts a ON a.id = s.account_id
      WHERE s.id = $1 AND s.account_id = $2 AND s.ended_at IS NULL AND a.disabled_at IS NULL`,
    [sessionId, accountId],
    { prepared: true },
  );
  return row;
}

interface TokenRow {
  id: string;
  kind: TokenKind;
  scope: TokenScope;
  hash: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  account_id: string;
  name: string;
}

/** Whether the credential looks like a personal access or bot token, valid or not (spec §5.1). */
function isAccessToken(credential: string): boolean {
  return credential.startsWith('cos_pat_');
}

/** The actor of a live token, or null. Runs one query and bypasses the ORM. */
async function findTokenActor(ctx: Context, credential: string): Promise<Actor | null> {
  const hash = hashOfSecret('cos_pat_', credential);
  if (hash === null) return null;
  const [row] = await select<TokenRow>(
    `SELECT t.id, t.kind, t.scope, t.hash, t.expires_at, t.last_used_at, a.id AS account_id, a.name
       FROM access_tokens t JOIN accounts a ON a.id = t.account_id
      WHERE t.hash = $1 AND t.suspended_at IS NULL AND a.disabled_at IS NULL`,
    [hash],
    { prepared: true, columns: { expires_at: 'time', last_used_at: 'time' } },
  );
  if (row === undefined || !isEqual(row.hash, hash)) return null;
  if (row.expires_at !== null && row.expires_at <= ctx.now) return null;
  noteUse(tokenUses(ctx), row.id, { now: ctx.now, lastUsedAt: row.last_used_at });
  const { id: tokenId, kind: via, scope } = row;
  return { kind: 'user', accountId: row.account_id, name: row.name, via, tokenId, scope };
}
