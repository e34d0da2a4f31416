import { createHash } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { Attribute, ScimResource, ScimValue } from '../../foundation/scim-user/attribute.ts';
import { findSub, type Names, type Target, userNames } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { isComplex, schemasOf, setValue, valueIn } from '../../foundation/scim-user/values.ts';

/** The SCIM base URL of an organization (spec §2.4). */
export function baseOf({ config }: Pick<Context, 'config'>, organizationId: string): string {
  return `${config.baseUrl}/scim/v2/orgs/${organizationId}`;
}

/** Data about a User that is stored outside its resource. */
export interface ViewSurroundings {
  id: string;
  active: boolean;
  createdAt: Date;
  modifiedAt: Date;
  version: number;
  /** The absolute URL of the resource. */
  location: string;
  /** The User's groups in the form of RFC 7643 §4.1.2. */
  groups?: ScimResource[];
}

/** The User as clients see it: `schemas`, `id`, stored attributes, `groups`, `active`, `meta`. */
export function viewScimUser(resource: ScimResource, around: ViewSurroundings): ScimResource {
  return {
    schemas: schemasOf(resource),
    id: around.id,
    ...resource,
    ...(around.groups?.length ? { groups: around.groups } : {}),
    active: around.active,
    meta: {
      resourceType: 'User',
      created: around.createdAt.toISOString(),
      lastModified: around.modifiedAt.toISOString(),
      location: around.location,
      version: etag(around.version, around.groups),
    },
  };
}

/**
 * The `ETag` and `meta.version`: the version of the resource, with a hash of a User's groups. A
 * change of these groups does not raise the version.
 */
export function etag(version: number, groups: ScimResource[] = []): string {
  if (groups.length === 0) return `W/"${version}"`;
  const shown = createHash('sha256').update(JSON.stringify(groups));
  return `W/"${version}.${shown.digest('base64url').slice(0, 16)}"`;
}

/** Removes the group hashes from tags, because requests about a User do not change groups. */
export function withoutGroups(tags: string): string {
  return tags.replaceAll(/\.[\w-]{16}(?="|$)/g, '');
}

/** The attributes to show in a response, as comma-separated names. */
export interface Projection {
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
}

/** Keeps only the requested attributes. */
export interface Projecting {
  of(view: ScimResource): ScimResource;
  /** Whether the attribute with this name, or a part of it, is shown. */
  shows(name: string): boolean;
}

/** Reads which attributes the client wants (RFC 7644 §3.9). 400 if both parameters are given. */
export function readProjection(
  { attributes: wanted, excludedAttributes: unwanted }: Projection,
  names: Names = userNames,
): Projecting {
  if (wanted?.trim() && unwanted?.trim()) {
    throw scimRefusal(400, 'invalidValue', 'Give attributes or excludedAttributes, not both.');
  }
  const named = namesIn(wanted?.trim() || unwanted?.trim() || '', names);
  const asks: Shows | null = wanted?.trim()
    ? (attribute, sub) => named.some((one) => asksFor(one, attribute, sub))
    : unwanted?.trim()
      ? (attribute, sub) => !named.some((one) => covers(one, attribute, sub))
      : null;
  return {
    of: (view) => (asks === null ? view : project(view, names, asks)),
    shows: (name) => {
      const target = names.findTarget(name);
      return asks === null || (target !== null && asks(target.attribute, null));
    },
  };
}

type Shows = (attribute: Attribute, sub: Attribute | null) => boolean;
type Named = { schema: string } | Target;

function namesIn(list: string, names: Names): Named[] {
  // Entra asks for attributes such as: emails[type eq "work"].
  const given = list.replace(/\[[^\]]*\]/g, '').split(',');
  return given.flatMap((name) => {
    const schema = names.findSchema(name.trim());
    return schema === null ? (names.findTarget(name.trim()) ?? []) : { schema };
  });
}

function asksFor(named: Named, attribute: Attribute, sub: Attribute | null): boolean {
  if ('schema' in named) return named.schema === attribute.schema;
  return named.attribute === attribute && (sub === null || named.sub === null || named.sub === sub);
}

function covers(named: Named, attribute: Attribute, sub: Attribute | null): boolean {
  if ('schema' in named) return named.schema === attribute.schema;
  return named.attribute === attribute && (named.sub === null || named.sub === sub);
}

function project(view: ScimResource, names: Names, shows: Shows): ScimResource {
  const shown: ScimResource = {};
  for (const attribute of names.attributes) {
    const value = valueIn(view, attribute);
    if (value === undefined) continue;
    if (attribute.returned === 'always') setValue(shown, attribute, value);
    else if (shows(attribute, null)) setValue(shown, attribute, parts(attribute, value, shows));
  }
  return shown;
}

function parts(attribute: Attribute, value: ScimValue, shows: Shows): ScimValue | undefined {
  if (Array.isArray(value)) {
    const elements = value.map((element) => parts(attribute, element, shows));
    const some = elements.filter((element) => element !== undefined);
    return some.length === 0 ? undefined : some;
  }
  if (!isComplex(value)) return value;
  const kept = Object.entries(value).filter(([name]) => {
    const sub = findSub(attribute, name);
    return sub !== null && shows(attribute, sub);
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The maximum number of Users or Groups on one page. */
export const maxInPage = 200;
