import {
  type Attribute,
  enterpriseSchema,
  type ScimResource,
  type ScimValue,
  userSchema,
} from './attribute.ts';
import { findSub } from './names.ts';
import { scimRefusal } from './refusal.ts';

// Reads and sets values with the table's types, and accepts the variants that providers send.

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the value is complex: an object that `coerce` has returned. */
export function isComplex(value: ScimValue | undefined): value is ScimResource {
  return isObject(value);
}

/** The value of the attribute. An extension's attribute is read from the extension's object. */
export function valueIn(resource: ScimResource, attribute: Attribute): ScimValue | undefined {
  if (attribute.schema !== enterpriseSchema) return resource[attribute.name];
  const extension = resource[enterpriseSchema];
  return isComplex(extension) ? extension[attribute.name] : undefined;
}

/** The values of the attribute: all of a multi-valued one, otherwise one or none. */
export function valuesIn(resource: ScimResource, attribute: Attribute): ScimValue[] {
  const value = valueIn(resource, attribute);
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The schemas with attributes in the resource. */
export function schemasOf(resource: ScimResource): string[] {
  return resource[enterpriseSchema] === undefined ? [userSchema] : [userSchema, enterpriseSchema];
}

/** Sets the attribute; an undefined value removes it. An empty extension is removed too. */
export function setValue(
  resource: ScimResource,
  attribute: Attribute,
  value: ScimValue | undefined,
): void {
  if (attribute.schema !== enterpriseSchema) {
    setOwn(resource, attribute.name, value);
    return;
  }
  const held = resource[enterpriseSchema];
  const extension: ScimResource = isComplex(held) ? held : {};
  setOwn(extension, attribute.name, value);
  setOwn(resource, enterpriseSchema, Object.keys(extension).length === 0 ? undefined : extension);
}

/** Sets the key; an undefined value removes it. */
export function setOwn(resource: ScimResource, key: string, value: ScimValue | undefined): void {
  if (value === undefined) delete resource[key];
  else resource[key] = value;
}

/**
 * Converts a client's value to the attribute's type; undefined if it is empty. Accepts "True", a
 * list of one, and a scalar for `{ value }`. Refuses any other wrong type with `invalidValue`.
 */
export function coerce(attribute: Attribute, given: unknown): ScimValue | undefined {
  if (given === null || given === undefined) return undefined;
  if (!attribute.multiValued) return coerceOne(attribute, unwrapped(given));
  const elements = (Array.isArray(given) ? given : [given])
    .map((element) => coerceOne(attribute, element))
    .filter((element) => element !== undefined);
  return elements.length === 0 ? undefined : elements;
}

function coerceOne(attribute: Attribute, given: unknown): ScimValue | undefined {
  if (given === null || given === undefined) return undefined;
  if (attribute.type === 'complex') return coerceComplex(attribute, given);
  const value = isObject(given) ? unwrapped(member(given, 'value')) : given;
  if (value === null) return undefined;
  return attribute.type === 'boolean'
    ? coerceBoolean(attribute, value)
    : coerceText(attribute, value);
}

function coerceComplex(attribute: Attribute, given: unknown): ScimResource | undefined {
  const value: ScimResource = {};
  merge(attribute, value, given);
  return Object.keys(value).length === 0 ? undefined : value;
}

/** Sets the given parts of a value, and removes those given as null. False if all are unknown. */
export function merge(attribute: Attribute, held: ScimResource, given: unknown): boolean {
  const parts = readParts(attribute, given);
  if (parts !== null) setParts(held, parts);
  return parts !== null;
}

/** Parts of a complex value by name; undefined for a part to remove. */
export type Parts = ReadonlyMap<string, ScimValue | undefined>;

/** The parts to set and remove, or null if the client gave only unknown parts. */
export function readParts(attribute: Attribute, given: unknown): Parts | null {
  const value = unwrapped(given);
  if (!isObject(value) && findSub(attribute, 'value') === null)
    throw unfit(attribute, 'must be an object');
  const entries = Object.entries(isObject(value) ? value : { value });
  const parts = new Map<string, ScimValue | undefined>();
  let known = entries.length === 0;
  for (const [name, part] of entries) {
    const sub = findSub(attribute, name);
    known ||= sub !== null;
    if (sub !== null && sub.mutability !== 'readOnly') parts.set(sub.name, coerce(sub, part));
  }
  return known ? parts : null;
}

/** Sets the parts, and removes the undefined ones. */
export function setParts(held: ScimResource, parts: Parts): void {
  for (const [name, part] of parts) setOwn(held, name, part);
}

function coerceBoolean(attribute: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (word === 'true' || word === 'false') return word === 'true';
  throw unfit(attribute, 'must be true or false');
}

function coerceText(attribute: Attribute, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw unfit(attribute, 'must be a string');
  if (!isStorable(value)) throw unfit(attribute, 'must not contain NUL or an unpaired surrogate');
  if (value.length > attribute.maxLength) {
    throw unfit(attribute, `must have at most ${attribute.maxLength} characters`);
  }
  return value;
}

const goneWhenEmpty = new Set(['emails', 'phoneNumbers', 'manager']);

/** Whether a connector has emptied this e-mail, phone number or manager to remove it. */
export function isEmptied({ name }: Attribute, given: ScimResource): boolean {
  return (
    goneWhenEmpty.has(name) && typeof given['value'] === 'string' && given['value'].trim() === ''
  );
}

/**
 * If the client sends a primary value, keeps the first one as the only primary of the list (RFC
 * 7643 §2.4).
 */
export function settlePrimary(all: ScimResource[], given: ScimResource[]): void {
  const chosen = given.find((element) => element['primary'] === true);
  if (chosen === undefined) return;
  for (const element of all) {
    if (element['primary'] === true && element !== chosen) element['primary'] = false;
  }
}

/** Whether both databases can store the text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Whether the value unsets an attribute: null, or an empty list (RFC 7643 §2.5). */
export function isUnset(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.every(isUnset));
}

/** Unwraps a list of one, which some clients put around the value. */
export function unwrapped(given: unknown): unknown {
  let value = given;
  while (Array.isArray(value) && value.length < 2) value = value[0];
  return value;
}

/** The value under a key, in any letter case. */
export function member(object: Record<string, unknown>, name: string): unknown {
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((candidate) => candidate.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

function unfit(attribute: Attribute, what: string) {
  return scimRefusal(400, 'invalidValue', `${attribute.name} ${what}.`);
}
