import type { Context } from '../../../context.ts';

/**
 * The SQL condition that provisioning made this membership (`m`) of an account (`a`) on a domain
 * that the organization has not verified. The person has agreed to nothing: such a membership tells
 * the organization nothing of the account (security O8).
 */
export function pushedIn({ config }: Pick<Context, 'config'>): string {
  // Every address then counts as on a verified domain.
  if (config.trust.domains === 'off') return '1 = 0';
  return `(m.origin ->> 'kind' = 'scim' AND NOT EXISTS (SELECT 1 FROM domains d
    WHERE d.organization_id = m.organization_id AND d.state = 'Verified' AND a.email LIKE '%@' || d.name))`;
}
