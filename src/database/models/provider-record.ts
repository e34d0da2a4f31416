import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A code, token or grant of the OpenID provider. A grant belongs to one session and one client, and
 * everything issued there names it. Without the grant or the live session, none of it is valid.
 */
export class ProviderRecord extends Row<ProviderRecord> {
  /** The SHA-256 of the model's name and the value, which the database never holds. */
  declare id: string;
  declare model: string;
  declare grantId: string;
  /** No reference, because a client is told of the end of a session that was deleted. */
  declare sessionId: string;
  declare clientId: string;
  declare payload: unknown;
  declare expiresAt: Date;
  /** When a code or refresh token was used. */
  declare consumedAt: CreationOptional<Date | null>;
}

/** The end of a session that a client is still to be told of. */
export class ClientSignOut extends Row<ClientSignOut> {
  declare id: string;
  declare clientId: string;
  declare sid: string;
  declare sub: string;
  declare attempts: CreationOptional<number>;
  /** The next try. While a daemon sends it, this is the time from which another one may. */
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
