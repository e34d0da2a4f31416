import { column, rowOf } from './columns.ts';

/** The stages of a sign-in, in order. A successful one reaches the last. */
export const attemptStages = [
  'connection',
  'authorization',
  'discovery',
  'token',
  'id_token',
  'userinfo',
  'claims',
  'account',
  'session',
] as const;
export type AttemptStage = (typeof attemptStages)[number];

/**
 * One of the latest sign-in attempts through a connection, without the provider's tokens and codes.
 */
export class SsoAttempt extends rowOf(
  'sso_attempts',
  {
    id: column.key(),
    connectionId: column.to('sso_connections'),
    at: column.date(),
    stage: column.string<AttemptStage>(),
    ok: column.flag(),
    /** The reason for a refusal; null after a success. */
    code: column.optional(column.string()),
    /** Canonical; null if the provider named no person or no address. */
    email: column.optional(column.string()),
    /** The groups claim as received; null if there was none, or it could not be read. */
    groups: column.optional(column.json<string[]>()),
    groupsMalformed: column.flag(),
    /** The id of the request, which a refused person sees as their reference; null before 0028. */
    reference: column.optional(column.string()),
  },
  () => [
    column.index('sso_attempts_connection_id', ['connection_id', 'id']),
    column.index('sso_attempts_at', ['at']),
  ],
) {}
