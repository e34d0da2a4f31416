import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../../context.ts';
import { firstKey } from '../../../foundation/page.ts';
import type { ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { calledBy, resourceOf } from '../../../foundation/scim-user/resource.ts';
import { baseOf, etag, type Projecting } from '../view.ts';
import { groupSchema } from './attributes.ts';
import type { Group } from './group.sql.ts';
import { readShownMembers, type ShownMember } from './members.sql.ts';

// A group may have 10,000 members. Its JSON is generated in parts, and other requests run in
// between.

/** A Group as the SCIM API sends it. */
export interface PresentedGroup {
  body: AsyncIterable<string>;
  etag: string;
  location: string;
}

/** The group as its SCIM client sees it. */
export function presentGroup(ctx: Context, group: Group, project: Projecting): PresentedGroup {
  const view = viewGroup(ctx, group);
  return {
    body: writeGroup(ctx, group, project),
    etag: etag(group.version),
    location: view.location,
  };
}

/** The URL and the `meta` of a group. */
export function viewGroup(ctx: Context, group: Group) {
  const location = `${baseOf(ctx, group.organizationId)}/Groups/${group.id}`;
  const meta: ScimResource = {
    resourceType: 'Group',
    created: group.createdAt.toISOString(),
    lastModified: group.modifiedAt.toISOString(),
    location,
    version: etag(group.version),
  };
  return { location, meta };
}

/** The JSON of the group, in parts. Reads the members only if the projection shows them. */
export async function* writeGroup(
  ctx: Context,
  group: Group,
  project: Projecting,
): AsyncGenerator<string> {
  const { id, displayName, externalId } = group;
  const plain = project.of({
    schemas: [groupSchema],
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName,
    meta: viewGroup(ctx, group).meta,
  });
  const json = JSON.stringify(plain);
  if (!project.shows('members')) return yield json;
  yield `${json.slice(0, -1)},"members":[`;
  let separator = '';
  for await (const members of readMembers(ctx, group)) {
    const shown = members.flatMap((member) => {
      const { members: kept } = project.of({ members: [member] });
      return Array.isArray(kept) ? kept : [];
    });
    if (shown.length === 0) continue;
    yield separator + JSON.stringify(shown).slice(1, -1);
    separator = ',';
  }
  yield ']}';
}

const pageOfMembers = 250;

async function* readMembers(ctx: Context, { id, organizationId }: Group) {
  const base = baseOf(ctx, organizationId);
  for (let after = firstKey; ; ) {
    const rows: ShownMember[] = await readShownMembers(id, after, pageOfMembers);
    yield rows.map(({ id: value, display, resource }): ScimResource => {
      const shown = display ?? (resource === null ? value : calledBy(resourceOf({ resource })));
      return { value, $ref: `${base}/Users/${value}`, display: shown, type: 'User' };
    });
    if (rows.length < pageOfMembers) return;
    after = rows.at(-1)?.id ?? after;
    await yieldToEventLoop();
  }
}
