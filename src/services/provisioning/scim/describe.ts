import type { Context } from '../../../context.ts';
import { requireScim } from '../../foundation/authority/require.ts';
import type { ScimResource } from '../../foundation/scim-user/attribute.ts';
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { baseOf, maxInPage } from './view.ts';

// Discovery (RFC 7644 §4). Only the organization's SCIM client may read it.

interface About {
  org: string;
  /** The name or URN of the requested entry; absent for all entries. */
  id?: string | undefined;
}

/** Describes the SCIM features that idctl supports. */
export function describeService(ctx: Context, { org }: About): ScimResource {
  return serviceProviderConfig(baseOf(ctx, requireScim(ctx, org)), { maxResults: maxInPage });
}

/** All resource types, or the type with this name. Null for an unknown name. */
export function listResourceTypes(ctx: Context, { org, id }: About): ScimResource | null {
  return choose(resourceTypes(baseOf(ctx, requireScim(ctx, org))), id);
}

/** All schemas, or the schema with this URN. Null for an unknown URN. */
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
