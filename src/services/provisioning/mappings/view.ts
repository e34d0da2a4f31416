import { z } from 'zod';
import type { OrgRole } from '../../../database/models/membership.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { id, notBlank, projectRole, ref } from '../../foundation/fields.ts';
import { affectedMembershipView } from '../../tenancy/projects/view.ts';

/** A group's name exactly as sent. Except in a directory, case and spaces matter (security I7). */
export const groupName = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .refine((text) => [...text].length <= 256, 'must have at most 256 characters');

/** The group of a mapping. */
export const mappedGroup = groupName.refine(...notBlank);

/** The origin of a person's group. */
export const groupSource = z.enum(['claim', 'scim']);

export const projectOfMapping = z.object({ id, slug: z.string() });

export const orgRole = z
  .enum(['member', 'admin'], 'must be member or admin')
  .describe('A role in the organization, instead of `project` and `role`.');

/** The input fields of a mapping. Validate them with `refuseMixed`. */
export const mappingInput = {
  group: mappedGroup,
  project: ref.optional(),
  role: projectRole.optional(),
  orgRole: orgRole.optional(),
};

type Mixed = { project?: unknown; role?: unknown; orgRole?: unknown };

/** Refuses a mapping that does not give exactly one role. */
export function refuseMixed(given: Mixed, ctx: z.RefinementCtx): void {
  for (const field of ['project', 'role'] as const) {
    const isGiven = given[field] !== undefined;
    if (isGiven === (given.orgRole === undefined)) continue;
    const message = isGiven
      ? 'cannot be combined with orgRole'
      : 'is required, unless orgRole is given';
    ctx.addIssue({ code: 'custom', path: [field], message });
  }
}

export const mappingView = z.object({
  id,
  group: z.string(),
  project: projectOfMapping.optional(),
  role: projectRole.optional(),
  orgRole: orgRole.optional(),
});

/** A new mapping, with the SCIM group that it matches. */
export const newMappingView = mappingView.extend({
  scimGroup: z
    .string()
    .nullable()
    .optional()
    .describe(
      "`group`, if it names a SCIM group exactly. Else a SCIM group's name in another case, or null.",
    ),
});

/** A removed mapping, with the memberships that it gave. */
export const mappingRemovedView = mappingView.extend({
  affected: z
    .array(affectedMembershipView.partial({ project: true }))
    .describe('An entry without `project` is a role in the organization.'),
});

export const importedView = z.object({
  added: z.array(mappingView),
  kept: z.int(),
  removed: z.array(mappingRemovedView),
});

type ProjectTarget = { project: Pick<Project, 'id' | 'slug'>; role: ProjectRole };

/** A group, and the role that it gives in a project or in the organization. */
export type GroupRole = { group: string } & (ProjectTarget | { orgRole: OrgRole });

interface Stored {
  group: string;
  project?: Pick<Project, 'id' | 'slug'> | null;
  role: ProjectRole | null;
  orgRole: OrgRole | null;
}

/** The role that a stored mapping gives. The query for the mapping must include the project. */
export function roleOf({ group, project, role, orgRole }: Stored): GroupRole {
  if (orgRole !== null) return { group, orgRole };
  if (!project || role === null)
    throw new Error('a mapping without a project does not give a role');
  return { group, project, role };
}

/** A mapping as clients see it. */
export function viewMapping(mapping: GroupRole & { id: string }) {
  const { id, group } = mapping;
  if ('orgRole' in mapping) return { id, group, orgRole: mapping.orgRole };
  const { project, role } = mapping;
  return { id, group, project: { id: project.id, slug: project.slug }, role };
}
