import { z } from 'zod';
import type { Organization } from '../../../database/models/organization.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { id, instant, role } from '../../foundation/fields.ts';

export const organizationView = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  role: role.optional(),
  createdAt: instant,
});
/** A deleted organization, with the number of its former members. */
export const organizationDeletedView = organizationView.extend({ members: z.int() });

/** The view of an organization, with the caller's role if the caller is a person. */
export function viewOrganization(organization: Organization, role?: Standing['role']) {
  const { id, slug, name, createdAt } = organization;
  const own = role === undefined || role === 'operator' ? {} : { role };
  return { id, slug, name, ...own, createdAt: createdAt.toISOString() };
}
