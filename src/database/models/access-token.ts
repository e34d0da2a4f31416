import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import type { OAuthApp } from './app.ts';
import {
  index,
  instantColumn,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
  uuid,
  withDefault,
} from './columns.ts';

/** Who made a token: a person for themselves, or one of their apps (security P14). */
export const tokenKinds = ['pat', 'bot'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** What a token may do, the least first (security P15). */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** A token that acts as its account (spec §2.7); one that is revoked is gone. */
export class AccessToken extends Row<AccessToken> {
  declare id: string;
  declare accountId: string;
  /** The app that a bot token was minted for, while there is one; it ends with it. */
  declare appId: CreationOptional<string | null>;
  declare kind: TokenKind;
  declare scope: CreationOptional<TokenScope>;
  declare name: string;
  declare description: string | null;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** Null for one that lasts until it is revoked. */
  declare expiresAt: Date | null;
  /** To the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** Since when it is not accepted, having come out of a backup; until it is regenerated. */
  declare suspendedAt: CreationOptional<Date | null>;
  /** The organization whose provider began the session in which its value was made, without a second factor (security P12). */
  declare vouchedBy: CreationOptional<string | null>;
  declare app?: NonAttribute<OAuthApp | null>;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initAccessToken(sequelize: Sequelize): void {
  AccessToken.init(
    {
      id: key(),
      accountId: to('accounts'),
      appId: optional(to('apps')),
      kind: textColumn(),
      scope: withDefault(textColumn(), 'write'),
      name: textColumn(),
      description: optional(textColumn()),
      prefix: textColumn(),
      hash: textColumn(),
      createdAt: instantColumn(),
      expiresAt: optional(instantColumn()),
      lastUsedAt: optional(instantColumn()),
      suspendedAt: optional(instantColumn()),
      vouchedBy: optional(uuid()),
    },
    table(sequelize, 'access_tokens', [
      unique('access_tokens_hash', ['hash']),
      index('access_tokens_account_id', ['account_id', 'id']),
      index('access_tokens_app_id', ['app_id', 'id']),
      index('access_tokens_expires_at', ['kind', 'expires_at']),
    ]),
  );
}
