import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { belongsBeyond } from '../../foundation/domain-names/pushed.sql.ts';

// The SQL of linking outside identities to accounts.

/** The account of the address, and the organization's verified domain of it; null for none. */
export async function findHolder(
  organizationId: string,
  email: string,
): Promise<{ id: string | null; domain: string | null }> {
  const [row] = await select<{ id: string | null; domain: string | null }>(
    `SELECT a.id, d.id AS domain FROM (SELECT 1 AS one) always
       LEFT JOIN accounts a ON a.email = $1
       LEFT JOIN domains d ON d.organization_id = $2 AND d.name = $3 AND d.state = $4`,
    [email, organizationId, domainOf(email), 'Verified'],
  );
  return row ?? { id: null, domain: null };
}

/** Whether the account belongs to another organization than this one, as `belongsBeyond` says. */
export async function belongsElsewhere(
  ctx: Pick<Context, 'config'>,
  accountId: string,
  organizationId: string,
): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM accounts a WHERE a.id = $1 AND ${belongsBeyond(ctx, '$2')}`,
    [accountId, organizationId],
  );
  return rows.length > 0;
}
