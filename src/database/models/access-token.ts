import type { Account } from './account.ts';
import type { OAuthApp } from './app.ts';
import { column, rowOf } from './columns.ts';

/** The kinds of tokens: a personal access token, or a bot token of an app (security P14). */
export const tokenKinds = ['pat', 'bot'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The scopes of a token, lowest first (security P15). */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** A token that acts as its account (spec §2.7). When a token is revoked, its row is deleted. */
export class AccessToken extends rowOf(
  'access_tokens',
  {
    id: column.key(),
    accountId: column.to('accounts'),
    /** The app that a bot token was created for. Deleting the app deletes the token. */
    appId: column.optional(column.to('apps')),
    kind: column.string<TokenKind>(),
    scope: column.withDefault(column.string<TokenScope>(), 'write'),
    name: column.string(),
    description: column.optional(column.string()),
    prefix: column.string(),
    /** SHA-256 of the value, in hex. */
    hash: column.string(),
    createdAt: column.date(),
    /** Null if the token does not expire. */
    expiresAt: column.optional(column.date()),
    /** Written at most once a minute, so it may be a minute old. */
    lastUsedAt: column.optional(column.date()),
    /** When a restore suspended the token. A new value ends the suspension. */
    suspendedAt: column.optional(column.date()),
    /**
     * The organization whose provider was the only proof of the session that created the value;
     * else null (security P12).
     */
    vouchedBy: column.optional(column.uuid()),
    /**
     * Whether the value was created in a session, or by a token or app, with this mark (security
     * I8).
     */
    unapproved: column.withDefault(column.flag(), false),
  },
  () => [
    column.unique('access_tokens_hash', ['hash']),
    column.index('access_tokens_account_id', ['account_id', 'id']),
    column.index('access_tokens_app_id', ['app_id', 'id']),
    column.index('access_tokens_expires_at', ['kind', 'expires_at']),
  ],
) {
  declare app?: OAuthApp | null;
  /** Present only if the query included it. */
  declare account: Account;
}
