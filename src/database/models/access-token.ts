import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import type { OAuthApp } from './app.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The maker of a token: a person for themselves, or one of their apps (security P14). */
export const tokenKinds = ['pat', 'bot'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The scopes of a token, lowest first (security P15). */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** A token that acts as its account (spec §2.7). A revoked token has no row. */
export class AccessToken extends Row<AccessToken> {
  declare id: string;
  declare accountId: string;
  /** The app that a bot token was minted for. The token is deleted with its app. */
  declare appId: CreationOptional<string | null>;
  declare kind: TokenKind;
  declare scope: CreationOptional<TokenScope>;
  declare name: string;
  declare description: string | null;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** Null for a token that is valid until revoked. */
  declare expiresAt: Date | null;
  /** Rounded to the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** Since when the token is refused because it came from a backup. Regenerating it ends that. */
  declare suspendedAt: CreationOptional<Date | null>;
  /**
   * The organization whose provider began the session that made the value, without a second factor
   * (security P12).
   */
  declare vouchedBy: CreationOptional<string | null>;
  declare app?: NonAttribute<OAuthApp | null>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initAccessToken(sequelize: Sequelize): void {
  AccessToken.init(
    {
      id: column.key(),
      accountId: column.to('accounts'),
      appId: column.optional(column.to('apps')),
      kind: column.string(),
      scope: column.withDefault(column.string(), 'write'),
      name: column.string(),
      description: column.optional(column.string()),
      prefix: column.string(),
      hash: column.string(),
      createdAt: column.date(),
      expiresAt: column.optional(column.date()),
      lastUsedAt: column.optional(column.date()),
      suspendedAt: column.optional(column.date()),
      vouchedBy: column.optional(column.uuid()),
    },
    table(sequelize, 'access_tokens', [
      column.unique('access_tokens_hash', ['hash']),
      column.index('access_tokens_account_id', ['account_id', 'id']),
      column.index('access_tokens_app_id', ['app_id', 'id']),
      column.index('access_tokens_expires_at', ['kind', 'expires_at']),
    ]),
  );
}
