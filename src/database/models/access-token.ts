import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import type { OAuthApp } from './app.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The kinds of tokens: a personal access token, or a bot token of an app (security P14). */
export const tokenKinds = ['pat', 'bot'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The scopes of a token, lowest first (security P15). */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** A token that acts as its account (spec §2.7). A revoked token has no row. */
export class AccessToken extends Row<AccessToken> {
  declare id: string;
  declare accountId: string;
  /** The app that a bot token was created for. Deleting the app deletes the token. */
  declare appId: CreationOptional<string | null>;
  declare kind: TokenKind;
  declare scope: CreationOptional<TokenScope>;
  declare name: string;
  declare description: string | null;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** Null if the token does not expire. */
  declare expiresAt: Date | null;
  /** Rounded to the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** When the token was suspended, because it came from a backup. A new value ends this. */
  declare suspendedAt: CreationOptional<Date | null>;
  /**
   * If only an organization's provider authenticated the session that made the value, without a
   * second factor, that organization (security P12).
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
