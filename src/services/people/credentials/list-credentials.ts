import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { instant } from '../../foundation/fields.ts';

/** One kind of credential of an account. */
export const credentialView = z.object({
  kind: z.enum(['password', 'totp', 'pat', 'bot', 'app', 'session', 'identity']),
  organization: z
    .string()
    .nullable()
    .describe('Of an identity: the organization, or the social provider.'),
  count: z.number().int(),
  first: instant.nullable().describe('When the oldest was made; null for a password.'),
  last: instant.nullable().describe('When the newest was made; null for a password.'),
});

interface Row {
  kind: z.output<typeof credentialView>['kind'];
  organization: string | null;
  count: number | string;
  first: string | Date | null;
  last: string | Date | null;
}

/**
 * Selects one kind in a row set of its own: PostgreSQL needs typed columns before any row has a
 * value.
 */
const some = (kind: string, from: string, at: string, organization = 'CAST(NULL AS TEXT)') =>
  `SELECT '${kind}' AS kind, ${organization} AS organization, COUNT(*) AS count, MIN(${at}) AS first, MAX(${at}) AS last
     FROM ${from}`;

const live = '(expires_at IS NULL OR expires_at > $2)';

const query = [
  some(
    'password',
    'accounts WHERE id = $1 AND password_hash IS NOT NULL',
    'CAST(NULL AS TIMESTAMPTZ)',
  ),
  some('totp', 'accounts WHERE id = $1 AND totp_enabled_at IS NOT NULL', 'totp_enabled_at'),
  some('pat', `access_tokens WHERE account_id = $1 AND kind = 'pat' AND ${live}`, 'created_at'),
  some('bot', `access_tokens WHERE account_id = $1 AND kind = 'bot' AND ${live}`, 'created_at'),
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

/**
 * Lists the credentials of the account, one line per kind: how many, from when to when. An identity
 * is listed by its organization or social provider.
 */
export async function listCredentials(
  ctx: Context,
  accountId: string,
): Promise<z.output<typeof credentialView>[]> {
  const rows = await select<Row>(query, [accountId, ctx.now]);
  return rows
    .filter(({ count }) => Number(count) > 0)
    .map(({ kind, organization, count, first, last }) => ({
      kind,
      organization,
      count: Number(count),
      first: instantOf(first),
      last: instantOf(last),
    }));
}

function instantOf(at: string | Date | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
