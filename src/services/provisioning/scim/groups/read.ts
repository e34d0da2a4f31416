import { slowly } from '../../../../host/queue.ts';
import { jsonIn } from '../../../../input.ts';
import { isUuid } from '../../../foundation/fields.ts';
import type { Attribute } from '../../../foundation/scim-user/attribute.ts';
import { findSub } from '../../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import {
  coerce,
  isObject,
  isUnset,
  member,
  unwrapped,
} from '../../../foundation/scim-user/values.ts';
import { maxKeys } from '../patch-operations.ts';
import { groupNames, written } from './attributes.ts';

// Reads the bodies of POST and PUT. Ignores unknown attributes, other schemas and read-only values.

/** Members of a group: the id of each User, and the display name that the client sent, if any. */
export type Members = Map<string, string | null>;

/** A whole group as its client sends it. */
export interface WrittenGroup {
  displayName: string;
  externalId: string | null;
  members: Members;
}

/** Reads a whole group. 400 if it has no name. */
export async function readGroup(body: unknown): Promise<WrittenGroup> {
  if (!isObject(body)) throw scimRefusal(400, 'invalidSyntax', 'A Group must be a JSON object.');
  const given = new Map<string, unknown>();
  const entries = Object.entries(body);
  if (entries.length > maxKeys)
    throw scimRefusal(400, 'invalidValue', `An object can have at most ${maxKeys} attributes.`);
  for (const [key, value] of entries) {
    const target = groupNames.findTarget(key);
    if (target !== null && target.sub === null) given.set(target.attribute.name, value);
  }
  return {
    displayName: readName(given.get('displayName')),
    externalId: readExternalId(given.get('externalId')),
    members: await readMembers(given.get('members'), 'add'),
  };
}

const longestName = 256;

/** Reads the display name. Every group must have one. */
export function readName(given: unknown): string {
  const name = textIn(written.displayName, given);
  if (name === null || name.trim() === '')
    throw scimRefusal(400, 'invalidValue', 'A Group needs a displayName.');
  if ([...name].length <= longestName) return name;
  throw scimRefusal(400, 'invalidValue', `displayName can have at most ${longestName} characters.`);
}

/** Reads the external id; null if there is none. */
export function readExternalId(given: unknown): string | null {
  const target = groupNames.findTarget('externalId');
  return target === null ? null : textIn(target.attribute, given) || null;
}

function textIn(attribute: Attribute, given: unknown): string | null {
  const value = isUnset(given) ? undefined : coerce(attribute, given);
  return typeof value === 'string' ? value : null;
}

// A body of 4 MiB cannot contain this many ids.
const maxElements = 110_000;

/** Reads members from a list, an object or an id. 400 if one cannot be a member. */
export async function readMembers(given: unknown, op: 'add' | 'remove'): Promise<Members> {
  const members: Members = new Map();
  if (given === undefined || given === null) return members;
  const elements = Array.isArray(given) ? given : [given];
  if (elements.length > maxElements)
    throw scimRefusal(400, 'invalidValue', 'members: the list has too many elements.');
  for await (const element of slowly(elements)) {
    const [id, display] = readMember(element);
    // Stops at the first invalid id of a long list.
    if (op === 'add' && !isUuid(id)) throw noSuchUser(id);
    if (isUuid(id) && !members.has(id)) members.set(id, display);
  }
  return members;
}

/** The refusal of a member that is not a User of the organization. */
export function noSuchUser(id: string) {
  const named = id.slice(0, 100);
  return scimRefusal(400, 'invalidValue', `members: this organization has no User ${named}.`);
}

const longestText = 2000;

/** A member that the client sent as JSON text inside a string, as SCIM-SDK does. */
function fromText(given: unknown): unknown {
  const isText = typeof given === 'string' && given.length <= longestText && /^\s*\{/.test(given);
  return isText ? (jsonIn(given) ?? given) : given;
}

function readMember(element: unknown): [id: string, display: string | null] {
  const given = fromText(unwrapped(element));
  const read = (name: string) => {
    const sub = findSub(written.members, name);
    const part = isObject(given) ? member(given, name) : name === 'value' ? given : undefined;
    return sub === null ? null : textIn(sub, part);
  };
  if (read('type')?.toLowerCase() === 'group')
    throw scimRefusal(400, 'invalidValue', 'A Group cannot be a member of a Group. Add its Users.');
  const value = read('value');
  if (!value) throw scimRefusal(400, 'invalidValue', 'A member needs a value: the id of a User.');
  const display = read('display')?.slice(0, 256) || null;
  return [isUuid(value) ? value.toLowerCase() : value, display];
}
