import { z } from 'zod';
import type { Organization } from '../../../../database/models/organization.ts';
import { name } from '../../../foundation/fields.ts';
import { renameOrganization } from '../../../tenancy/organizations/operations.ts';
import type { Draft } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import type { Apply } from '../section.ts';

const input = z
  .strictObject({ slug: z.string().describe('The slug never changes.'), name })
  .optional();

/** The part of the state with the names of the organization. */
export interface OrganizationState {
  organization: Pick<Organization, 'slug' | 'name'>;
}

interface Steps {
  rename: string | null;
}

function plan(
  draft: Draft,
  { state, document }: Wanted<OrganizationState, { organization?: z.output<typeof input> }>,
): Steps {
  const { slug, name: from } = state.organization;
  const to = document.organization?.name;
  if (to === undefined || to === from) return { rename: null };
  draft.changes.push({
    section: 'organization',
    action: 'change',
    key: slug,
    fields: [{ field: 'name', from, to }],
  });
  return { rename: to };
}

const apply: Apply<{ organization: Steps }> = async (ctx, { id: org }, { organization }) => {
  if (organization.rename !== null)
    await renameOrganization(ctx, { org, name: organization.rename });
};

/** The section with the name of the organization. */
export const organization = {
  input,
  exported: z.object({ slug: z.string(), name: z.string() }),
  read: async (_ctx: object, { slug, name }: Organization) => ({ slug, name }),
  plan,
  apply,
  view: ({ organization: { slug, name } }: OrganizationState) => ({ slug, name }),
  cap: null,
};
