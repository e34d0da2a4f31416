import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

// Both models belong to one origin of a client and to one session. They end with either.

/** A one-time ticket that transfers a browser's session to a protected origin. */
export class HostTicket extends Row<HostTicket> {
  /** SHA-256 of the ticket in the URL. */
  declare id: string;
  declare sessionId: string;
  declare origin: string;
  /** SHA-256 of the cookie of the browser that started at the origin. */
  declare browser: string;
  /** The path at the origin to return to. */
  declare returnTo: string;
  declare expiresAt: Date;
}

/** A browser that is signed in at a protected origin. */
export class HostSession extends Row<HostSession> {
  /** SHA-256 of the cookie's value. */
  declare id: string;
  declare sessionId: string;
  declare origin: string;
  declare createdAt: Date;
}

const origin = () => ({
  ...column.string(),
  references: { model: 'client_origins', key: 'origin' },
  onDelete: 'CASCADE',
});

/** Binds the models to the open database. */
export function initHostSession(sequelize: Sequelize): void {
  HostTicket.init(
    {
      id: column.key(column.string()),
      sessionId: column.to('sessions'),
      origin: origin(),
      browser: column.string(),
      returnTo: column.string(),
      expiresAt: column.date(),
    },
    table(sequelize, 'host_tickets', [
      column.index('host_tickets_session_id', ['session_id']),
      column.index('host_tickets_origin', ['origin']),
      column.index('host_tickets_expires_at', ['expires_at']),
    ]),
  );
  HostSession.init(
    {
      id: column.key(column.string()),
      sessionId: column.to('sessions'),
      origin: origin(),
      createdAt: column.date(),
    },
    table(sequelize, 'host_sessions', [
      column.index('host_sessions_session_id', ['session_id']),
      column.index('host_sessions_origin', ['origin']),
    ]),
  );
}
