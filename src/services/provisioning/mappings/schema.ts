import { z } from 'zod';
import { id, projectRole, ref, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { affectedMembershipView } from '../../tenancy/projects/view.ts';
import { mostMappings } from './room.ts';

/** A group's name exactly as the directory sends it: case, spaces and commas are part of it (security I7). */
const groupName = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => [...text].length <= 256, 'must have at most 256 characters');

const triple = { group: groupName, project: ref, role: projectRole };

export const listMappingsInput = z.strictObject({ org: ref, ...pageInput });
export const addMappingInput = z.strictObject({ org: ref, ...triple });
export const mappingRefInput = z.strictObject({ org: ref, id });
export const importMappingsInput = z.strictObject({
  org: ref,
  mappings: z.array(z.strictObject(triple)).max(mostMappings, `must be at most ${mostMappings}`),
  replace: z.boolean().default(false),
});
export const previewMappingsInput = z.strictObject({
  org: ref,
  user: userRef.optional(),
  groups: z.array(groupName).max(1000, 'must be at most 1000').optional(),
  attempt: id.optional().describe('An attempt, by its id or its reference.'),
});

const projectOfMapping = z.object({ id, slug: z.string() });

export const mappingView = z.object({
  id,
  group: z.string(),
  project: projectOfMapping,
  role: projectRole,
});
export const mappingPage = pageOf(mappingView);

/** A mapping that was removed, and the memberships that it had given. */
export const mappingRemovedView = mappingView.extend({ affected: z.array(affectedMembershipView) });

export const importedView = z.object({
  added: z.array(mappingView),
  kept: z.int(),
  removed: z.array(mappingRemovedView),
});

const because = z
  .object({ group: z.string(), mapping: id })
  .nullable()
  .describe('The group and the mapping of it; for a removal, those that had given the membership.');
const entry = { project: projectOfMapping, role: projectRole, because };

/** What a sign-in would do: the same plan that it would carry out. */
export const previewView = z.object({
  adds: z.array(z.object(entry)),
  changes: z.array(z.object({ ...entry, from: projectRole, to: projectRole })),
  removes: z.array(z.object(entry)),
});
