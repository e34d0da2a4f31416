import type { ScimResource } from './attributes.ts';

/** `/ServiceProviderConfig` (RFC 7643 §5); `base` is the absolute URL of the organization's SCIM base. */
export declare function serviceProviderConfig(base: string): ScimResource;

/** The resources of `/ResourceTypes` (RFC 7643 §6). */
export declare function resourceTypes(base: string): ScimResource[];

/** The resources of `/Schemas` (RFC 7643 §7). */
export declare function schemas(base: string): ScimResource[];
