import type { Context } from '../../context.ts';
import {
  describeService,
  listResourceTypes,
  listSchemas,
} from '../../services/provisioning/scim/describe.ts';
import { createUserResource } from '../../services/provisioning/scim/users/create.ts';
import {
  deleteUserResource,
  listUserResources,
  patchUser,
  replaceUser,
  showUserResource,
} from '../../services/provisioning/scim/users/operations.ts';
import {
  type Answer,
  errorReply,
  methodReply,
  type ScimReply,
  shown,
  shownIfChanged,
  type UserRequest,
} from './answer.ts';
import { allGroups, oneGroup, searchAll, searchGroups } from './groups.ts';
import { readOne, readQuery, readSearch } from './query.ts';

/** Finds what answers a request below an organization's SCIM base URL: a function, or a reply. */
export function findAnswer({ method, path }: Pick<UserRequest, 'method' | 'path'>) {
  const [collection = '', id, ...more] = path;
  const place = more.length > 0 ? undefined : places[collection.toLowerCase()]?.(id);
  if (place === undefined) return nothing({ path });
  if (isReply(place)) return place;
  return place[method === 'HEAD' ? 'GET' : method] ?? methodReply(Object.keys(place));
}

function nothing({ path }: Pick<UserRequest, 'path'>): ScimReply {
  return errorReply(404, `There is nothing at /${path.join('/').slice(0, 200)}.`);
}

type Place = Record<string, Answer> | ScimReply | undefined;

/** The resources below the base, by the first part of the path in lower case. */
const places: Record<string, ((id: string | undefined) => Place) | undefined> = Object.assign(
  Object.create(null),
  {
    users: (id: string | undefined): Place => {
      if (id === undefined) return { GET: list, POST: create };
      return id.toLowerCase() === '.search' ? { POST: search } : one(id);
    },
    groups: (id: string | undefined): Place => {
      if (id === undefined) return allGroups;
      return id.toLowerCase() === '.search' ? { POST: searchGroups } : oneGroup(id);
    },
    '.search': only({ POST: searchAll }),
    me: () => errorReply(501, 'A SCIM token has no account, so there is no /Me.'),
    bulk: () => errorReply(501, 'Bulk requests are not supported.'),
    serviceproviderconfig: only({
      GET: described(async (ctx, org) => describeService(ctx, { org })),
    }),
    resourcetypes: (id: string | undefined): Place => ({
      GET: described(async (ctx, org) => listResourceTypes(ctx, { org, id })),
    }),
    schemas: (id: string | undefined): Place => ({
      GET: described(async (ctx, org) => listSchemas(ctx, { org, id })),
    }),
  },
);

function isReply(place: Record<string, Answer> | ScimReply): place is ScimReply {
  return typeof place['status'] === 'number';
}

function only(place: Record<string, Answer>): (id: string | undefined) => Place {
  return (id) => (id === undefined ? place : undefined);
}

async function list({ ctx, org, request }: UserRequest): Promise<ScimReply> {
  return { status: 200, body: await listUserResources(ctx, { org, ...readQuery(request) }) };
}

async function search({ ctx, org, body }: UserRequest): Promise<ScimReply> {
  const parameters = readSearch(body);
  return { status: 200, body: await listUserResources(ctx, { org, ...parameters }) };
}

async function create({ ctx, org, request, body }: UserRequest): Promise<ScimReply> {
  const made = await createUserResource(ctx, { org, body, ...readQuery(request) });
  return shown(made, 201);
}

function one(id: string): Record<string, Answer> {
  const change = (service: typeof replaceUser) => async (asked: UserRequest) => {
    return shown(await service(asked.ctx, { ...readOne(asked, id), body: asked.body }));
  };
  return {
    GET: async (asked) =>
      shownIfChanged(asked, await showUserResource(asked.ctx, readOne(asked, id))),
    PUT: change(replaceUser),
    PATCH: change(patchUser),
    DELETE: async (asked) => {
      await deleteUserResource(asked.ctx, readOne(asked, id));
      return { status: 204 };
    },
  };
}

/** Answers a description of the service, which cannot be filtered (RFC 7644 §4). */
function described(describe: (ctx: Context, org: string) => Promise<unknown>): Answer {
  return async ({ ctx, org, path, request }) => {
    if (readQuery(request).filter !== undefined)
      return errorReply(403, 'A service description cannot be filtered.');
    const body = await describe(ctx, org);
    return body === null ? nothing({ path }) : { status: 200, body };
  };
}
