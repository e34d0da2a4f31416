import type { Actor, Context } from '../../../context.ts';
import { hashOfSecret, isEqual } from '../../../crypto/secret.ts';
import type { TokenKind, TokenScope } from '../../../database/models/access-token.ts';
import { select } from '../../../database/select.ts';
import { noteTokenUse } from './uses.ts';

/** Times are text on SQLite. */
type Time = string | Date;

interface Row {
  id: string;
  kind: TokenKind;
  scope: TokenScope;
  hash: string;
  expires_at: Time | null;
  last_used_at: Time | null;
  account_id: string;
  name: string;
}

/** Whether the credential has the form of our tokens, valid or not (spec §5.1). */
export function isAccessToken(credential: string): boolean {
  return credential.startsWith('cos_pat_');
}

/**
 * The owner that a token acts for, or null. The token must be whole, live, unexpired and not
 * suspended, and the account enabled. One read, bypassing the ORM.
 */
export async function findTokenActor(ctx: Context, credential: string): Promise<Actor | null> {
  const hash = hashOfSecret('cos_pat_', credential);
  if (hash === null) return null;
  const [row] = await select<Row>(
    `SELECT t.id, t.kind, t.scope, t.hash, t.expires_at, t.last_used_at, a.id AS account_id, a.name
       FROM access_tokens t JOIN accounts a ON a.id = t.account_id
      WHERE t.hash = $1 AND t.suspended_at IS NULL AND a.disabled_at IS NULL`,
    [hash],
    { prepared: true },
  );
  if (row === undefined || !isEqual(row.hash, hash)) return null;
  if (row.expires_at !== null && new Date(row.expires_at) <= ctx.now) return null;
  noteTokenUse(ctx, row.id, row.last_used_at === null ? null : new Date(row.last_used_at));
  const { id: tokenId, kind: via, scope } = row;
  return { kind: 'user', accountId: row.account_id, name: row.name, via, tokenId, scope };
}
