import { replaceUnseen } from '../../../text/unseen.ts';
import { canonicalEmail } from '../domain-names/canonical.ts';
import type { Attribute, ScimResource, ScimValue } from './attribute.ts';
import { attributes } from './attributes.ts';
import { findSchema, findTarget } from './names.ts';
import { scimRefusal } from './refusal.ts';
import {
  coerce,
  isComplex,
  isEmptied,
  isObject,
  settlePrimary,
  setValue,
  valuesIn,
} from './values.ts';

// A resource as clients write it, with the names and the types of the table.

/** A complete resource: it has a name, and says whether the person is a member. */
export type WrittenUser = ScimResource & { userName: string; active: boolean };

/** A resource with the name that every record has. */
export type Named = ScimResource & { userName: string };

/** The resource of a record, as its client wrote it. */
export function resourceOf(record: { resource: string }): Named {
  // Only resources of this type are stored.
  return JSON.parse(record.resource) as Named;
}

/** The resource in the body of a POST, always with `userName` and a boolean `active`. */
export function readCreation(body: unknown): WrittenUser {
  const resource = readBody(body);
  const userName = givenName(resource) ?? firstEmail(resource);
  if (userName === null)
    throw scimRefusal(400, 'invalidValue', 'A User needs a userName or an e-mail address.');
  return written(resource, userName);
}

/** The resource in the body of a PUT. `userName` is kept if absent; `active` defaults to true. */
export function readReplacement(
  body: unknown,
  current: ScimResource & { userName: string },
): WrittenUser {
  const resource = readBody(body);
  return written(resource, givenName(resource) ?? current.userName);
}

function written(resource: ScimResource, userName: string): WrittenUser {
  const user = { ...resource, userName, active: resource['active'] !== false };
  assertSound(user);
  return user;
}

function readBody(body: unknown): ScimResource {
  if (!isObject(body)) throw scimRefusal(400, 'invalidSyntax', 'A User must be a JSON object.');
  const resource: ScimResource = {};
  readInto(resource, body, '');
  if (Object.keys(resource).length > 0) return resource;
  throw scimRefusal(400, 'invalidValue', 'The body has no attribute of a User.');
}

function readInto(resource: ScimResource, given: Record<string, unknown>, prefix: string): void {
  for (const [key, part] of Object.entries(given)) {
    const schema = prefix === '' ? findSchema(key) : null;
    if (schema !== null && isObject(part)) readInto(resource, part, `${schema}:`);
    const target = findTarget(`${prefix}${key}`);
    if (target === null || target.sub !== null || target.attribute.mutability !== 'readWrite')
      continue;
    const value = coerce(target.attribute, part);
    if (value !== undefined) setValue(resource, target.attribute, tidied(target.attribute, value));
  }
}

/** The value to store, with at most one primary value. Undefined if nothing is left. */
function tidied(attribute: Attribute, value: ScimValue): ScimValue | undefined {
  if (!Array.isArray(value))
    return isComplex(value) && isEmptied(attribute, value) ? undefined : value;
  const kept = value.filter((element) => !isComplex(element) || !isEmptied(attribute, element));
  const elements = kept.filter(isComplex);
  settlePrimary(elements, elements);
  return kept.length === 0 ? undefined : kept;
}

const max = { elements: 200, length: 256 * 1024 };

/** Refuses an invalid resource from any source: no userName, too large, or too many values. */
export function assertSound(resource: ScimResource): void {
  if (givenName(resource) === null)
    throw scimRefusal(400, 'invalidValue', 'userName must not be empty.');
  if (JSON.stringify(resource).length > max.length) {
    throw scimRefusal(400, 'invalidValue', `A User must have at most ${max.length} characters.`);
  }
  for (const attribute of attributes) {
    if (attribute.multiValued) assertFew(attribute, valuesIn(resource, attribute));
  }
}

/** Refuses too many values of an attribute. */
export function assertFew({ name }: Attribute, values: ScimValue[]): void {
  if (values.length <= max.elements) return;
  throw scimRefusal(400, 'invalidValue', `${name} must have at most ${max.elements} values.`);
}

/** The canonical address: `userName` if it is an address, else the first of `emails`, or null. */
export function emailOf(resource: ScimResource): string | null {
  return canonicalEmail(givenName(resource) ?? '') ?? canonicalEmail(firstEmail(resource) ?? '');
}

/** The display name in a resource, without characters forbidden in names (security X9), or null. */
export function nameOf(resource: ScimResource): string | null {
  const { name, displayName } = resource;
  const parts = isComplex(name) ? name : {};
  const joined = [parts['givenName'], parts['familyName']]
    .filter((part) => typeof part === 'string')
    .join(' ');
  for (const candidate of [parts['formatted'], joined, displayName]) {
    if (typeof candidate !== 'string') continue;
    const seemly = shortened(replaceUnseen(candidate, () => ''));
    if (seemly !== '') return seemly;
  }
  return null;
}

/** Shortens the text to 200 UTF-16 units, without half a surrogate pair or a joiner at the end. */
function shortened(text: string): string {
  const cut = [...text.trim()].slice(0, 200).join('').slice(0, 200);
  return replaceUnseen(cut, () => '').trim();
}

/** The resource of a member that SCIM did not provision. No part of the name is empty. */
export function memberResource({ email, name }: { email: string; name: string | null }) {
  const shown = name?.trim() || email.split('@')[0] || email;
  const words = shown.split(/\s+/);
  const givenName = words[0] ?? shown;
  const familyName = words.slice(1).join(' ') || givenName;
  return {
    userName: email,
    name: { formatted: shown, givenName, familyName },
    displayName: shown,
    emails: [{ value: email, type: 'work', primary: true }],
  };
}

function givenName({ userName }: ScimResource): string | null {
  return typeof userName === 'string' && userName.trim() !== '' ? userName : null;
}

function firstEmail({ emails }: ScimResource): string | null {
  const first = Array.isArray(emails) ? emails[0] : undefined;
  const value = isComplex(first) ? first['value'] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The client's name for the person: their name, or else the first part of their userName. */
export function calledBy(resource: Named): string {
  const { userName } = resource;
  const local = userName.split('@')[0] ?? '';
  return (
    nameOf(resource) ?? nameOf({ displayName: local }) ?? nameOf({ displayName: userName }) ?? '-'
  );
}
