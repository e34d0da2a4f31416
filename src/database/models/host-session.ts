import { column, rowOf } from './columns.ts';

const origin = () => ({
  ...column.string(),
  references: { model: 'client_origins', key: 'origin' },
  onDelete: 'CASCADE',
});

// A row of either model belongs to one origin of a client and to one session. Deleting either one
// deletes the row.

/** A one-time ticket that transfers a browser's session to a protected origin. */
export class HostTicket extends rowOf(
  'host_tickets',
  {
    /** SHA-256 of the ticket in the URL. */
    id: column.key(column.string()),
    sessionId: column.to('sessions'),
    origin: origin(),
    /** SHA-256 of the cookie of the browser that started at the origin. */
    browser: column.string(),
    /** The path at the origin to return to. */
    returnTo: column.string(),
    expiresAt: column.date(),
  },
  () => [
    column.index('host_tickets_session_id', ['session_id']),
    column.index('host_tickets_origin', ['origin']),
    column.index('host_tickets_expires_at', ['expires_at']),
  ],
) {}

/** A browser that is signed in at a protected origin. */
export class HostSession extends rowOf(
  'host_sessions',
  {
    /** SHA-256 of the cookie's value. */
    id: column.key(column.string()),
    sessionId: column.to('sessions'),
    origin: origin(),
    createdAt: column.date(),
  },
  () => [
    column.index('host_sessions_session_id', ['session_id']),
    column.index('host_sessions_origin', ['origin']),
  ],
) {}
