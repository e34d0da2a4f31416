import { column, rowOf } from './columns.ts';

const origin = () => ({
  ...column.string(),
  references: { model: 'client_origins', key: 'origin' },
  onDelete: 'CASCADE',
});

// Both belong to one origin of a client and to one session, and end with either.

/** A one-time ticket by which a browser carries its session to a protected origin. */
export class HostTicket extends rowOf(
  'host_tickets',
  {
    /** The SHA-256 of the ticket in the address. */
    id: column.key(column.string()),
    sessionId: column.to('sessions'),
    origin: origin(),
    /** The SHA-256 of the cookie of the browser that began at the origin. */
    browser: column.string(),
    /** The path at the origin where the browser was. */
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
    /** The SHA-256 of the value of the cookie. */
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
