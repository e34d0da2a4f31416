import type { Context } from '../../../context.ts';
import { requireScim } from '../../foundation/authority/require.ts';
import type { ScimResource } from '../../foundation/scim-user/attribute.ts';
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { baseOf, mostInPage } from './view.ts';

// The service describes itself (RFC 7644 §4), only to the organization's client.

interface About {
  org: string;
  /** The requested one; without it, all of them. */
  id?: string | undefined;
}

/** The supported features. */
export function describeService(ctx: Context, { org }: About): ScimResource {
  return serviceProviderConfig(baseOf(ctx, requireScim(ctx, org)), { maxResults: mostInPage });
}

/** All resource types, or the one of this name; null if it is unknown. */
export function listResourceTypes(ctx: Context, { org, id }: About): ScimResource | null {
  return choose(resourceTypes(baseOf(ctx, requireScim(ctx, org))), id);
}

/** All schemas, or the one of this URN; null if it is unknown. */
export function listSchemas(ctx: Context, { org, id }: About): ScimResource | null {
  return choose(schemas(baseOf(ctx, requireScim(ctx, org))), id);
}

function choose(all: ScimResource[], id: string | undefined): ScimResource | null {
  if (id !== undefined) {
    return all.find((one) => String(one['id']).toLowerCase() === id.toLowerCase()) ?? null;
  }
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: all.length,
    startIndex: 1,
    itemsPerPage: all.length,
    Resources: all,
  };
}
