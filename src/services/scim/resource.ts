import type { ScimResource } from './attributes.ts';

/** What idctl knows of a User beside the resource that the client wrote. */
export interface Surroundings {
  id: string;
  active: boolean;
  createdAt: Date;
  modifiedAt: Date;
  version: number;
  /** The absolute URL of the resource. */
  location: string;
}

/** What a list or an answer shows. */
export interface Projection {
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
}

/** The resource in the body of a POST: with `userName`, and `active` a boolean; no `id`, `meta`, `schemas`. */
export declare function readCreation(body: unknown): ScimResource & { userName: string; active: boolean };

/** The resource in the body of a PUT: `userName` kept when not given, active unless it says otherwise. */
export declare function readReplacement(
  body: unknown,
  current: ScimResource,
): ScimResource & { userName: string; active: boolean };

/** The User as clients see it: schemas, id, what they wrote, active, meta. */
export declare function viewUser(resource: ScimResource, surroundings: Surroundings): ScimResource;

/** The `ETag` and `meta.version` of a version. */
export declare function etag(version: number): string;

/** Only what was asked for (RFC 7644 §3.9); reading the parameters refuses both together with 400 before anything is done. */
export declare function readProjection(asked: Projection): (view: ScimResource) => ScimResource;

/** The canonical address of the resource: `userName` when it is one, else that of the first entry of `emails`, or null. */
export declare function emailOf(resource: ScimResource): string | null;

/** The display name in a resource, or null. */
export declare function nameOf(resource: ScimResource): string | null;

/** The resource of a member who did not come by SCIM: an e-mail and a name in parts, none of them empty. */
export declare function memberResource(member: { email: string; name: string | null }): ScimResource & {
  userName: string;
};
