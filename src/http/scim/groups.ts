import { Refusal } from '../../errors.ts';
import {
  createGroupResource,
  deleteGroupResource,
  listGroupResources,
  patchGroup,
  replaceGroup,
  showGroupResource,
} from '../../services/provisioning/scim/groups/operations.ts';
import { readWindow } from '../../services/provisioning/scim/list/query.ts';
import { listUserResources } from '../../services/provisioning/scim/users/operations.ts';
import {
  type ScimHandler,
  type ScimReply,
  shown,
  shownIfChanged,
  type UserRequest,
} from './answer.ts';
import { type ListParameters, readOne, readQuery, readSearch } from './query.ts';

// The Group resources. Their JSON is sent in parts, so that long lists are not kept in memory.

/** The methods of `/Groups`. */
export const allGroups: Record<string, ScimHandler> = {
  GET: ({ ctx, org, request }) => list({ ctx, org }, readQuery(request)),
  POST: async ({ ctx, org, request, body }) => {
    const made = await createGroupResource(ctx, { org, body, ...readQuery(request) });
    return shown(made, 201);
  },
};

type At = Pick<UserRequest, 'ctx' | 'org'>;

async function list({ ctx, org }: At, parameters: ListParameters): Promise<ScimReply> {
  const { total, resources } = await listGroupResources(ctx, { org, ...parameters });
  const { startIndex } = readWindow({ org, ...parameters });
  return { status: 200, body: writeList({ total, startIndex }, resources) };
}

/** Answers a search of Groups. */
export async function searchGroups(asked: UserRequest): Promise<ScimReply> {
  return list(asked, readSearch(asked.body));
}

/** Answers a search of all resources: Users, then Groups. A filter may fit only one kind. */
export async function searchAll({ ctx, org, body }: UserRequest): Promise<ScimReply> {
  const parameters = readSearch(body);
  const { startIndex, from, count } = readWindow({ org, ...parameters });
  const users = await unlessUnfit(listUserResources(ctx, { org, ...parameters }));
  const found = users.value === null ? 0 : Number(users.value['totalResults']);
  const own = users.value?.['Resources'];
  const people = Array.isArray(own) ? own : [];
  const rest = {
    startIndex: Math.max(0, from - found) + 1,
    count: Math.max(0, count - people.length),
  };
  const groups = await unlessUnfit(listGroupResources(ctx, { org, ...parameters, ...rest }));
  if (users.value === null && groups.value === null) throw users.error;
  const resources = [
    ...people.map((user) => () => [JSON.stringify(user)]),
    ...(groups.value?.resources ?? []),
  ];
  const total = found + (groups.value?.total ?? 0);
  return { status: 200, body: writeList({ total, startIndex }, resources) };
}

/** The listing; null if this kind of resource lacks an attribute of the filter or sort order. */
async function unlessUnfit<T>(listing: Promise<T>): Promise<{ value: T | null; error: unknown }> {
  try {
    return { value: await listing, error: null };
  } catch (error) {
    const scimType = error instanceof Refusal ? error.scimType : undefined;
    if (scimType === 'invalidFilter' || scimType === 'invalidPath') return { value: null, error };
    throw error;
  }
}

async function* writeList(
  { total, startIndex }: { total: number; startIndex: number },
  resources: (() => AsyncIterable<string> | Iterable<string>)[],
): AsyncGenerator<string> {
  const head = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"Resources":[`;
  for (const [at, resource] of resources.entries()) {
    if (at > 0) yield ',';
    yield* resource();
  }
  yield ']}';
}

/** The methods of `/Groups/:id`. */
export function oneGroup(id: string): Record<string, ScimHandler> {
  return {
    GET: async (asked) =>
      shownIfChanged(asked, await showGroupResource(asked.ctx, readOne(asked, id))),
    PUT: async (asked) =>
      shown(await replaceGroup(asked.ctx, { ...readOne(asked, id), body: asked.body })),
    PATCH: async (asked) => {
      const input = readOne(asked, id);
      const group = await patchGroup(asked.ctx, { ...input, body: asked.body });
      // ScimHandler 204 unless the client asks for attributes, because reading the members is slow.
      if (input.attributes !== undefined || input.excludedAttributes !== undefined)
        return shown(group);
      return { status: 204, headers: { ETag: group.etag } };
    },
    DELETE: async (asked) => {
      await deleteGroupResource(asked.ctx, readOne(asked, id));
      return { status: 204 };
    },
  };
}
