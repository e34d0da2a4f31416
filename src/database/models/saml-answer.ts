import { column, rowOf } from './columns.ts';

/** A verified answer of a SAML provider, until the browser that began the sign-in comes for it. */
export class SamlAnswer extends rowOf(
  'saml_answers',
  {
    /** SHA-256 of the id of the request. */
    id: column.key(column.string()),
    connectionId: column.to('sso_connections'),
    /** The claims, what verified them, and where the person goes after the sign-in. */
    payload: column.json(),
    expiresAt: column.date(),
  },
  () => [
    column.index('saml_answers_connection_id', ['connection_id']),
    column.index('saml_answers_expires_at', ['expires_at']),
  ],
) {}
