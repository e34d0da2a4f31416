import { isUuid } from '../../../foundation/fields.ts';
import type { Attribute, ScimValue } from '../../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { coerce, isComplex, isObject, isUnset } from '../../../foundation/scim-user/values.ts';
import { groupNames, written } from './attributes.ts';

// The bodies of POST and PUT. Unknown attributes, other schemas and what is read-only are ignored.

/** Members of a group: the id of each User, and the name that the client sent for it, if any. */
export type Members = Map<string, string | null>;

/** A whole group as its client writes it. */
export interface WrittenGroup {
  displayName: string;
  externalId: string | null;
  members: Members;
}

/** Reads a whole group. 400 without a name. */
export function readGroup(body: unknown): WrittenGroup {
  if (!isObject(body)) throw scimRefusal(400, 'invalidSyntax', 'A Group is a JSON object.');
  const given = new Map<string, unknown>();
  for (const [key, value] of Object.entries(body)) {
    const target = groupNames.findTarget(key);
    if (target !== null && target.sub === null) given.set(target.attribute.name, value);
  }
  return {
    displayName: readName(given.get('displayName')),
    externalId: readExternalId(given.get('externalId')),
    members: readMembers(given.get('members')),
  };
}

const longestName = 256;

/** A display name, which no group is without. */
export function readName(given: unknown): string {
  const name = textIn(written.displayName, given);
  if (name === null || name.trim() === '')
    throw scimRefusal(400, 'invalidValue', 'A Group needs a displayName.');
  if ([...name].length <= longestName) return name;
  throw scimRefusal(400, 'invalidValue', `displayName has at most ${longestName} characters.`);
}

/** An external id, or null. */
export function readExternalId(given: unknown): string | null {
  const target = groupNames.findTarget('externalId');
  return target === null ? null : textIn(target.attribute, given) || null;
}

function textIn(attribute: Attribute, given: unknown): string | null {
  const value = isUnset(given) ? undefined : coerce(attribute, given);
  return typeof value === 'string' ? value : null;
}

/** The members in a list, an object or an id. 400 for what cannot be a member. */
export function readMembers(given: unknown): Members {
  const elements = isUnset(given) ? [] : coerce(written.members, given);
  const members: Members = new Map();
  for (const element of Array.isArray(elements) ? elements : []) {
    const [id, display] = readMember(element);
    if (!members.has(id)) members.set(id, display);
  }
  return members;
}

function readMember(element: ScimValue): [id: string, display: string | null] {
  const { value, type, display } = isComplex(element) ? element : {};
  if (typeof type === 'string' && type.toLowerCase() === 'group')
    throw scimRefusal(400, 'invalidValue', 'A Group cannot be a member of a Group. Add its Users.');
  if (typeof value !== 'string' || value === '')
    throw scimRefusal(400, 'invalidValue', 'A member needs a value: the id of a User.');
  const shown = typeof display === 'string' && display !== '' ? display.slice(0, 256) : null;
  return [isUuid(value) ? value.toLowerCase() : value, shown];
}
