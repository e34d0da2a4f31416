import { z } from 'zod';
import { id, instant, ref } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

export const listScimUsersInput = z.strictObject({ org: ref, ...pageInput });
export const listScimRequestsInput = z.strictObject({ org: ref, ...pageInput });

/** A person as the organization's SCIM client sees them. */
export const scimUserView = z.object({
  id,
  userName: z.string(),
  externalId: z.string().nullable(),
  email: z.string().nullable(),
  active: z.boolean(),
  updatedAt: instant,
});
export const scimUserPage = pageOf(scimUserView);

/** A request of the client: its answer, and the reason if it was refused. */
export const scimRequestView = z.object({
  at: instant,
  method: z.string(),
  path: z.string(),
  status: z.int(),
  reason: z.string().nullable(),
});
export const scimRequestPage = pageOf(scimRequestView);
