import { z } from 'zod';
import { id, instant, name, ref, role, slug } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

export const createOrganizationInput = z.strictObject({ name, slug: slug.optional() });
export const listOrganizationsInput = z.strictObject(pageInput);
export const organizationRefInput = z.strictObject({ org: ref });
export const renameOrganizationInput = z.strictObject({ org: ref, name });

export const organizationView = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  role: role.optional(),
  createdAt: instant,
});
export const organizationPage = pageOf(organizationView);
