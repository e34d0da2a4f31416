import type { Context } from '../../../context.ts';

/**
 * The SQL condition for a membership (`m`) that SCIM pushed for an account (`a`) on an unverified
 * domain. Such a membership shows the organization nothing of the account, and counts for nothing
 * outside it (security O8).
 */
export function pushedIn({ config }: Pick<Context, 'config'>): string {
  // With this setting, every address counts as an address on a verified domain.
  if (config.trust.domains === 'off') return '1 = 0';
  return `(m.origin ->> 'kind' = 'scim' AND NOT EXISTS (SELECT 1 FROM domains d
    WHERE d.organization_id = m.organization_id AND d.state = 'Verified' AND a.email LIKE '%@' || d.name))`;
}

/**
 * The SQL condition that the account (`a`) belongs to another organization than this one. A
 * membership for which `pushedIn` holds does not count: any organization can push one.
 */
export function belongsBeyond(ctx: Pick<Context, 'config'>, organization: string): string {
  return `EXISTS (SELECT 1 FROM memberships m WHERE m.account_id = a.id
    AND m.organization_id <> ${organization} AND NOT ${pushedIn(ctx)})`;
}
