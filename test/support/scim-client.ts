import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { organization } from './builders.ts';
import type { Answer } from './http.ts';
import type { Idctl } from './idctl.ts';

/** A provisioning client of one organization, as a provider's connector is. */
export interface ScimClient {
  org: Awaited<ReturnType<typeof organization>>;
  /** The path of the base. */
  base: string;
  token: string;
  /** Asks below the base, with the token and SCIM's media type unless told otherwise. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a User and answers what came back; throws unless that was 201. */
  create(resource: Record<string, unknown>): Promise<Answer['body']>;
  /** PATCH with these operations. */
  patch(id: string, ...operations: unknown[]): Promise<Answer>;
  /** The events of the organization of this kind. */
  events(kind: string): Promise<Awaited<ReturnType<typeof listEvents>>['items']>;
}

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** A new organization with an owner, a token and a client that has it. */
export async function scimClient(idctl: Idctl): Promise<ScimClient> {
  const org = await organization(idctl);
  const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
  return clientOf(idctl, org, token);
}

/** The client of an organization with this token. */
export function clientOf(idctl: Idctl, org: ScimClient['org'], token: string): ScimClient {
  const base = `/scim/v2/orgs/${org.id}`;
  const send: ScimClient['send'] = (method, path, body, headers = {}) =>
    idctl.client().send(method, base + path, {
      ...(body === undefined ? {} : { body }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
    });
  return {
    org,
    base,
    token,
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    create: async (resource) => {
      const { status, body } = await send('POST', '/Users', resource);
      if (status !== 201) throw new Error(`creating answered ${status} ${JSON.stringify(body)}`);
      return body;
    },
    patch: (id, ...Operations) =>
      send('PATCH', `/Users/${id}`, { schemas: [patchSchema], Operations }),
    events: async (kind) =>
      (await listEvents(idctl.operator(), { org: org.slug, kind, limit: 200 })).items,
  };
}

/** The query of a filter. */
export function filtered(filter: string): string {
  return `/Users?filter=${encodeURIComponent(filter)}`;
}
