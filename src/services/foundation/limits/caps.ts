import { hold } from '../../../database/hold.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import type { OperationName } from '../../../next.ts';
import { type Cap, countStored } from './caps.sql.ts';

// The caps that prevent one organization or account from using up the instance (security O15).
// Existing entries above a cap stay. Only adding is refused.

/** The maximum number of each kind that an organization can have. */
export const caps = {
  domains: { max: 50, what: 'pending domains' },
  webhooks: { max: 20, what: 'webhooks' },
  clients: { max: 200, what: 'clients' },
  setupLinks: { max: 20, what: 'setup links' },
  projects: { max: 10_000, what: 'projects' },
  mappings: { max: 10_000, what: 'group mappings' },
} as const satisfies Record<Cap, { max: number; what: string }>;

/** The kinds with a section in the document of an organization. */
export const sectionsWithCap = [
  'domains',
  'webhooks',
  'clients',
  'projects',
  'mappings',
] as const satisfies Cap[];

/** The maximum number of entries of a list in a document. */
export const documentCaps = { members: 10_000, mappings: 10_000 } as const;

/** The limits of an account. They do not apply to the operator. */
export const accountCaps = {
  organizations: 10,
  organizationsADay: 20,
  invitationsADay: 100,
} as const;

const lists = {
  domains: ['Verify or remove some.', 'domain.list'],
  webhooks: ['Remove some.', 'webhook.list'],
  clients: ['Remove some.', 'client.list'],
  setupLinks: ['Revoke some.', 'setup-link.list'],
  projects: ['Delete some.', 'project.list'],
  mappings: ['Remove some.', 'mappings.list'],
} as const satisfies Record<Cap, [string, OperationName]>;

/** The refusal of an addition above a cap. It names the cap. */
export function capReached(cap: Cap, { slug }: Pick<Organization, 'slug'>): Refusal {
  const { max, what } = caps[cap];
  const [advice, operation] = lists[cap];
  return new Refusal('cap_reached', `An organization can have at most ${max} ${what}.`, {
    hint: [advice, { to: 'list them', operation, with: { org: slug } }],
    extra: { cap, most: max },
  });
}

/**
 * Refuses with `cap_reached` if the organization has no room for `more`. Call it inside the
 * transaction that adds. Parallel additions of one kind to one organization wait for each other.
 */
export async function requireCapRoom(
  organization: Pick<Organization, 'id' | 'slug'>,
  cap: Cap,
  more = 1,
): Promise<void> {
  if (more <= 0) return;
  await hold.room(cap, organization.id);
  const stored = await countStored(cap, organization.id);
  if (stored + more > caps[cap].max) throw capReached(cap, organization);
}
