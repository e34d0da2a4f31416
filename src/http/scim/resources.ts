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
  errorReply,
  methodReply,
  type ScimHandler,
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
  const target = more.length > 0 ? undefined : targets[collection.toLowerCase()]?.(id);
  if (target === undefined) return nothing({ path });
  if (isReply(target)) return target;
  return target[method === 'HEAD' ? 'GET' : method] ?? methodReply(Object.keys(target));
}

function nothing({ path }: Pick<UserRequest, 'path'>): ScimReply {
  return errorReply(404, `There is nothing at /${path.join('/').slice(0, 200)}.`);
}

type Target = Record<string, ScimHandler> | ScimReply | undefined;

/** The resources below the base, by the first part of the path in lower case. */
const targets: Record<string, ((id: string | undefined) => Target) | undefined> = Object.assign(
  Object.create(null),
  {
    users: (id: string | undefined): Target => {
      if (id === undefined) return { GET: list, POST: create };
      return id.toLowerCase() === '.search' ? { POST: search } : one(id);
    },
    groups: (id: string | undefined): Target => {
      if (id === undefined) return allGroups;
      return id.toLowerCase() === '.search' ? { POST: searchGroups } : oneGroup(id);
    },
    '.search': only({ POST: searchAll }),
    me: () => errorReply(501, 'A SCIM token has no account, so there is no /Me.'),
    bulk: () => errorReply(501, 'Bulk requests are not supported.'),
    serviceproviderconfig: only({
      GET: described(async (ctx, org) => describeService(ctx, { org })),
    }),
    resourcetypes: (id: string | undefined): Target => ({
      GET: described(async (ctx, org) => listResourceTypes(ctx, { org, id })),
    }),
    schemas: (id: string | undefined): Target => ({
      GET: described(async (ctx, org) => listSchemas(ctx, { org, id })),
    }),
  },
);

function isReply(target: Record<string, ScimHandler> | ScimReply): target is ScimReply {
  return typeof target['status'] === 'number';
}

function only(target: Record<string, ScimHandler>): (id: string | undefined) => Target {
  return (id) => (id === undefined ? target : undefined);
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

function one(id: string): Record<string, ScimHandler> {
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
function described(describe: (ctx: Context, org: string) => Promise<unknown>): ScimHandler {
  return async ({ ctx, org, path, request }) => {
    if (readQuery(request).filter !== undefined)
      return errorReply(403, 'A service description cannot be filtered.');
    const body = await describe(ctx, org);
    return body === null ? nothing({ path }) : { status: 200, body };
  };
}
