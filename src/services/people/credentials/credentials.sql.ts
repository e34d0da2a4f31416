import { select } from '../../../database/select.ts';

/** The kinds of credentials that are counted. */
export const credentialKinds = [
  'password',
  'totp',
  'passkey',
  'recoveryCode',
  'pat',
  'bot',
  'app',
  'session',
  'identity',
] as const;

/** The credentials of one kind: how many, and when the oldest and the newest were created. */
interface Counted {
  kind: (typeof credentialKinds)[number];
  organization: string | null;
  count: number;
  first: Date | null;
  last: Date | null;
}

/** The query of one kind. The casts give types to columns that are NULL in every row. */
const some = (kind: string, from: string, at: string, organization = 'CAST(NULL AS TEXT)') =>
  `SELECT '${kind}' AS kind, ${organization} AS organization, COUNT(*) AS count, MIN(${at}) AS first, MAX(${at}) AS last
     FROM ${from}`;

const unexpired = '(expires_at IS NULL OR expires_at > $2)';

const counting = [
  some(
    'password',
    'accounts WHERE id = $1 AND password_hash IS NOT NULL',
    'CAST(NULL AS TIMESTAMPTZ)',
  ),
  some('totp', 'accounts WHERE id = $1 AND totp_enabled_at IS NOT NULL', 'totp_enabled_at'),
  some('passkey', 'passkeys WHERE account_id = $1', 'created_at'),
  some('recoveryCode', 'recovery_codes WHERE account_id = $1', 'created_at'),
  some(
    'pat',
    `access_tokens WHERE account_id = $1 AND kind = 'pat' AND ${unexpired}`,
    'created_at',
  ),
  some(
    'bot',
    `access_tokens WHERE account_id = $1 AND kind = 'bot' AND ${unexpired}`,
    'created_at',
  ),
  some('app', 'apps WHERE account_id = $1', 'created_at'),
  some(
    'session',
    'sessions WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2',
    'created_at',
  ),
  some(
    'identity',
    `identities i LEFT JOIN organizations o ON o.id = i.organization_id WHERE i.account_id = $1
      GROUP BY COALESCE(o.slug, i.connection_id)`,
    'i.linked_at',
    'COALESCE(o.slug, i.connection_id)',
  ),
].join(' UNION ALL ');

/** Counts the credentials of an account, by kind and organization. */
export function countCredentials(accountId: string, now: Date): Promise<Counted[]> {
  return select<Counted>(counting, [accountId, now], {
    columns: { first: 'time', last: 'time' },
  });
}

/**
 * The condition that the session of a code, token or grant is gone. Its column is not a foreign
 * key, because the client of a deleted session must still learn that it ended.
 */
export const ofNoSession = `NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = session_id)
  AND NOT (model = 'Grant' AND EXISTS (SELECT 1 FROM clients c
    WHERE c.id = client_id AND c.backchannel_logout_uri IS NOT NULL))`;

/** The condition that an access token is a bot token. */
export const ofBot = `kind = 'bot'`;
