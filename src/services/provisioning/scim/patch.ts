import { isDeepStrictEqual } from 'node:util';
import {
  type Attribute,
  enterpriseSchema,
  type ScimResource,
} from '../../foundation/scim-user/attribute.ts';
import { findSchema } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { assertSound } from '../../foundation/scim-user/resource.ts';
import {
  coerce,
  isComplex,
  isEmptied,
  isObject,
  isUnset,
  merge,
  setOwn,
  setValue,
  unwrapped,
  valueIn,
} from '../../foundation/scim-user/values.ts';
import { termsOf } from './filter.ts';
import { applyToElements, applyToList } from './patch-elements.ts';
import { findPath, type PatchOperation, type Path, readOperations } from './patch-operations.ts';
import { withoutGroups } from './view.ts';

/** The result of a PATCH. */
export interface Patched {
  resource: ScimResource;
  /** Whether anything changed. If not, version and lastModified stay. */
  changed: boolean;
  /** The value of `active` in `resource`. */
  active: boolean;
}

/** The `id` and `meta` of a resource as clients see it. */
export interface Own {
  id: string;
  meta: ScimResource;
}

/**
 * Applies a PATCH body to the resource (RFC 7644 §3.5.2), completely or not at all. `resource` is
 * the stored resource with the record's `active`; `own` has its `id` and `meta`.
 */
export function applyPatch(resource: ScimResource, body: unknown, own?: Own): Patched {
  const operations = readOperations(body);
  const patched = structuredClone(resource);
  const patching = { resource: patched, own, terms: 0, changes: 0 };
  for (const operation of operations) apply(patching, operation);
  assertSound(patched);
  return {
    resource: patched,
    changed: !isDeepStrictEqual(patched, resource),
    active: patched['active'] === true,
  };
}

type Op = PatchOperation['op'];

interface Patching {
  resource: ScimResource;
  own: Own | undefined;
  /** The number of filter terms so far. Each term reads every value of an attribute. */
  terms: number;
  /** The number of changed attributes so far. Without a path, an operation can change many. */
  changes: number;
}

const maxTerms = 50;
const maxChanges = 500;

function apply(patching: Patching, { op, path, value }: PatchOperation): void {
  const schema = path === null ? '' : findSchema(path.trim());
  if (path === null && op === 'remove')
    throw scimRefusal(400, 'noTarget', 'A remove operation needs a path.');
  if (path === null) applyEach(patching, op, value, '');
  else if (schema !== null) applyToSchema(patching, op, schema, value);
  else applyAt(patching, op, requirePath(path), value);
}

function requirePath(text: string): Path {
  const path = findPath(text);
  if (path !== null) return path;
  throw scimRefusal(400, 'invalidPath', `A User has no attribute "${text.slice(0, 100)}".`);
}

function applyToSchema(patching: Patching, op: Op, schema: string, value: unknown): void {
  if (op !== 'remove' && !isUnset(value)) applyEach(patching, op, value, `${schema}:`);
  else if (schema === enterpriseSchema) setOwn(patching.resource, enterpriseSchema, undefined);
  else throw scimRefusal(400, 'mutability', 'The core attributes of a User cannot be removed.');
}

/** Applies each attribute of the value. Ignores unknown attributes, unless all are unknown. */
function applyEach(patching: Patching, op: Op, value: unknown, prefix: string): void {
  const given = unwrapped(value);
  if (!isObject(given))
    throw scimRefusal(400, 'invalidValue', 'Without a path, the value must be an object.');
  let known = 0;
  for (const [key, part] of Object.entries(given)) {
    const schema = findSchema(key);
    const path = schema === null ? findPath(`${prefix}${key}`) : null;
    if (schema === null && path === null) continue;
    known += 1;
    if (schema !== null) applyToSchema(patching, op, schema, part);
    else if (path !== null && !isIgnored(path) && !isOwn(patching, path, part)) {
      applyAt(patching, op, path, part);
    }
  }
  if (known === 0 && Object.keys(given).length > 0) {
    throw scimRefusal(400, 'invalidPath', 'The value does not contain an attribute of a User.');
  }
}

// Okta also sends `password`. Some libraries also send `schemas` and `groups`.
function isIgnored({ attribute }: Path): boolean {
  const { mutability, name } = attribute;
  return mutability === 'writeOnly' || name === 'schemas' || name === 'groups';
}

/** Whether the value repeats the resource's own `id` or `meta`. Some clients send them back. */
function isOwn({ own }: Patching, { attribute, sub }: Path, given: unknown): boolean {
  if (own === undefined || sub !== null) return false;
  if (attribute.name === 'id') return given === own.id;
  if (attribute.name !== 'meta' || !isObject(given)) return false;
  return Object.entries(given).every(([name, part]) => {
    const repeated = name === 'version' && typeof part === 'string' ? withoutGroups(part) : part;
    return repeated === own.meta[name];
  });
}

function applyAt(patching: Patching, op: Op, path: Path, value: unknown): void {
  const { resource } = patching;
  const { attribute, filter, sub } = path;
  patching.changes += 1;
  if (patching.changes > maxChanges) {
    throw scimRefusal(400, 'invalidValue', `A PATCH can have at most ${maxChanges} changes.`);
  }
  patching.terms += filter === null ? 0 : termsOf(filter).length;
  if (patching.terms > maxTerms) {
    throw scimRefusal(
      400,
      'invalidFilter',
      `The paths of a PATCH can have at most ${maxTerms} terms.`,
    );
  }
  for (const part of [attribute, sub]) {
    if (part === null || part.mutability === 'readWrite') continue;
    throw scimRefusal(400, 'mutability', `A client cannot change ${part.name}.`);
  }
  if (filter !== null || (attribute.multiValued && sub !== null))
    applyToElements(resource, op, path, value);
  else if (attribute.multiValued) applyToList(resource, op, attribute, value);
  else applyToOne(resource, op, path, value);
}

function applyToOne(resource: ScimResource, op: Op, { attribute, sub }: Path, value: unknown) {
  const given = op === 'remove' || isUnset(value) ? undefined : value;
  if (attribute.type === 'complex') applyToParts(resource, attribute, sub, given);
  else {
    const fit = given === undefined ? undefined : coerce(attribute, given);
    if (fit === undefined) refuseUnset(attribute.name);
    setValue(resource, attribute, fit);
  }
}

function applyToParts(
  resource: ScimResource,
  attribute: Attribute,
  sub: Attribute | null,
  given: unknown,
): void {
  const held = valueIn(resource, attribute);
  const parts = isComplex(held) ? held : {};
  // RFC 7644 §3.5.2.3: sub-attributes that the value does not contain stay as they are.
  if (sub !== null) setOwn(parts, sub.name, given === undefined ? undefined : coerce(sub, given));
  else if (given === undefined || given === '') {
    setValue(resource, attribute, undefined);
    return;
  } else if (!merge(attribute, parts, given)) {
    throw scimRefusal(400, 'invalidValue', `The value has no sub-attribute of ${attribute.name}.`);
  }
  const isGone = Object.keys(parts).length === 0 || isEmptied(attribute, parts);
  setValue(resource, attribute, isGone ? undefined : parts);
}

function refuseUnset(name: string): void {
  if (name === 'active') throw scimRefusal(400, 'invalidValue', 'active must be true or false.');
  if (name === 'userName') throw scimRefusal(400, 'mutability', 'A User needs its userName.');
}
