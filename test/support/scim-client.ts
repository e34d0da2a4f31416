import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { organization } from './builders.ts';
import type { Answer } from './http.ts';
import type { Idctl } from './idctl.ts';

/** A SCIM client of one organization, like a provider's connector. */
export interface ScimClient {
  org: Awaited<ReturnType<typeof organization>>;
  /** The path of the SCIM base URL. */
  base: string;
  token: string;
  /** Sends a request below the base URL, by default with the token and SCIM's media type. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a User and returns the body of the answer; throws unless the status is 201. */
  create(resource: Record<string, unknown>): Promise<Answer['body']>;
  /** Sends a PATCH with these operations. */
  patch(id: string, ...operations: unknown[]): Promise<Answer>;
  /** The organization's events of this kind. */
  events(kind: string): Promise<Awaited<ReturnType<typeof listEvents>>['items']>;
}

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Creates an organization with an owner and a SCIM token, and a client with this token. */
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

/** The path and query that list the Users that match a filter. */
export function filtered(filter: string): string {
  return `/Users?filter=${encodeURIComponent(filter)}`;
}
