import type { ScimResource } from './attributes.ts';

/** What a PATCH makes of a resource. */
export interface Patched {
  resource: ScimResource;
  /** False for a no-op: version and lastModified stay. */
  changed: boolean;
  /** `resource.active`. */
  active: boolean;
}

/**
 * The resource after a PATCH body (RFC 7644 §3.5.2), all of it or a refusal. Hand it the stored resource with the `active` of
 * the record set; neither `id` nor `meta` belong to it.
 */
export declare function applyPatch(resource: ScimResource, body: unknown): Patched;
