import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A code, token or grant of idctl's OpenID provider. A grant belongs to one session and one client.
 * Everything issued under the grant refers to it, and is invalid without the grant or after the
 * session ends.
 */
export class ProviderRecord extends Row<ProviderRecord> {
  /** SHA-256 of the model's name and the value. The value itself is never stored. */
  declare id: string;
  declare model: string;
  declare grantId: string;
  /** No foreign key, because clients are also notified about deleted sessions. */
  declare sessionId: string;
  declare clientId: string;
  declare payload: unknown;
  declare expiresAt: Date;
  /** When a code or refresh token was used. */
  declare consumedAt: CreationOptional<Date | null>;
}

/** An ended session that a client must still be notified about. */
export class ClientSignOut extends Row<ClientSignOut> {
  declare id: string;
  declare clientId: string;
  declare sid: string;
  declare sub: string;
  declare attempts: CreationOptional<number>;
  /** The time of the next attempt. A daemon postpones it while it sends the notice. */
  declare nextAt: Date;
  declare at: Date;
}

/** Binds the models to the open database. */
export function initProviderRecord(sequelize: Sequelize): void {
  ProviderRecord.init(
    {
      id: column.key(column.string()),
      model: column.string(),
      grantId: column.string(),
      sessionId: column.uuid(),
      clientId: column.to('clients'),
      payload: column.json(),
      expiresAt: column.date(),
      consumedAt: column.optional(column.date()),
    },
    table(sequelize, 'provider_records', [
      column.index('provider_records_grant_id', ['grant_id']),
      column.index('provider_records_client_id', ['client_id']),
      column.index('provider_records_expires_at', ['expires_at']),
      column.unique('provider_records_grant', ['session_id', 'client_id'], { model: 'Grant' }),
    ]),
  );
  ClientSignOut.init(
    {
      id: column.key(),
      clientId: column.to('clients'),
      sid: column.string(),
      sub: column.string(),
      attempts: column.withDefault(column.integer(), 0),
      nextAt: column.date(),
      at: column.date(),
    },
    table(sequelize, 'client_sign_outs', [
      column.index('client_sign_outs_client_id', ['client_id']),
      column.index('client_sign_outs_next_at', ['next_at']),
    ]),
  );
}
