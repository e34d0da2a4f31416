import { column, rowOf } from './columns.ts';

/** The stages of a sign-in, in order. A successful attempt reaches the last one. */
export const attemptStages = [
  'connection',
  'authorization',
  'discovery',
  'token',
  'id_token',
  'userinfo',
  'metadata',
  'response',
  'assertion',
  'claims',
  'account',
  'session',
] as const;
export type AttemptStage = (typeof attemptStages)[number];

/** A recent sign-in attempt through a connection, without the tokens and codes of the provider. */
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
    /** In canonical form. Null if the provider named no person or no address. */
    email: column.optional(column.string()),
    /** The received groups claim; null if there was none, or it could not be read. */
    groups: column.optional(column.json<string[]>()),
    groupsMalformed: column.flag(),
    /** The request's id, shown to a refused person as a reference; null before migration 0028. */
    reference: column.optional(column.string()),
  },
  () => [
    column.index('sso_attempts_connection_id', ['connection_id', 'id']),
    column.index('sso_attempts_at', ['at']),
  ],
) {}
