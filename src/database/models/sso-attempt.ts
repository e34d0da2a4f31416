import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The stages of a sign-in, in order. A successful attempt reaches the last one. */
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

/** A recent sign-in attempt through a connection, without the tokens and codes of the provider. */
export class SsoAttempt extends Row<SsoAttempt> {
  declare id: string;
  declare connectionId: string;
  declare at: Date;
  declare stage: AttemptStage;
  declare ok: boolean;
  /** The reason for a refusal; null after a success. */
  declare code: string | null;
  /** In canonical form. Null if the provider named no person or no address. */
  declare email: string | null;
  /** The received groups claim; null if there was none, or it could not be read. */
  declare groups: string[] | null;
  declare groupsMalformed: boolean;
  /** The request's id, shown to a refused person as a reference; null before migration 0028. */
  declare reference: string | null;
}

/** Binds the model to the open database. */
export function initSsoAttempt(sequelize: Sequelize): void {
  SsoAttempt.init(
    {
      id: column.key(),
      connectionId: column.to('sso_connections'),
      at: column.date(),
      stage: column.string(),
      ok: column.flag(),
      code: column.optional(column.string()),
      email: column.optional(column.string()),
      groups: column.optional(column.json()),
      groupsMalformed: column.flag(),
      reference: column.optional(column.string()),
    },
    table(sequelize, 'sso_attempts', [
      column.index('sso_attempts_connection_id', ['connection_id', 'id']),
      column.index('sso_attempts_at', ['at']),
    ]),
  );
}
