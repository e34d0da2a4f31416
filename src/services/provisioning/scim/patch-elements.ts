import type { Attribute, ScimResource, ScimValue } from '../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { assertFew } from '../../foundation/scim-user/resource.ts';
import {
  coerce,
  isComplex,
  isEmptied,
  isUnset,
  readParts,
  setOwn,
  setParts,
  settlePrimary,
  setValue,
  valuesIn,
} from '../../foundation/scim-user/values.ts';
import type { Filter } from './filter.ts';
import { matches } from './filter-match.ts';
import type { PatchOperation, Path } from './patch-operations.ts';

// Changes elements of a multi-valued attribute in place. The resource must be the patch's own copy.

type Op = PatchOperation['op'];

/** Changes the whole list. `remove` with a value removes elements that contain all of its parts. */
export function applyToList(resource: ScimResource, op: Op, attribute: Attribute, value: unknown) {
  const held = elementsIn(resource, attribute);
  if (op === 'add' && isUnset(value)) return;
  const given = isUnset(value) ? [] : elementsOf(attribute, value);
  assertFew(attribute, given);
  if (op === 'remove') {
    const wanted = given.map((element) => Object.entries(element));
    const isWanted = (element: ScimResource) =>
      wanted.some((parts) => parts.every(([name, value]) => element[name] === value));
    const kept = wanted.length === 0 ? [] : held.filter((element) => !isWanted(element));
    return setElements(resource, attribute, kept);
  }
  const known = new Set((op === 'add' ? held : []).map((element) => keyOf(attribute, element)));
  const fresh = given.filter(
    (element) => !isEmptied(attribute, element) && !known.has(keyOf(attribute, element)),
  );
  const all = op === 'add' ? [...held, ...fresh] : fresh;
  settlePrimary(all, fresh);
  setElements(resource, attribute, all);
}

/** Changes the elements that the path selects, or one sub-attribute of each. */
export function applyToElements(resource: ScimResource, op: Op, path: Path, value: unknown): void {
  const { attribute, filter } = path;
  const held = elementsIn(resource, attribute);
  const selected = new Set(
    filter === null ? held : held.filter((element) => matches(element, filter)),
  );
  const given = op === 'remove' || isUnset(value) ? undefined : value;
  const change = selected.size === 0 ? () => null : changeOf(op, path, given);
  const after: ScimResource[] = [];
  const touched: ScimResource[] = [];
  for (const element of held) {
    const changed = selected.has(element) ? change(element) : element;
    if (changed === null || isEmptied(attribute, changed)) continue;
    if (selected.has(element)) touched.push(changed);
    after.push(changed);
  }
  const created = selected.size === 0 ? createElement(op, path, given) : null;
  if (created !== null && !isEmptied(attribute, created)) {
    touched.push(created);
    after.push(created);
  }
  settlePrimary(after, touched);
  setElements(resource, attribute, after);
}

/** Returns the change to make to each selected element. Null removes the element. */
function changeOf(
  op: Op,
  path: Path,
  given: unknown,
): (element: ScimResource) => ScimResource | null {
  const { attribute, filter, sub } = path;
  if (sub !== null) {
    const part = given === undefined ? undefined : coerce(sub, given);
    return (element) => {
      setOwn(element, sub.name, part);
      return given === undefined && isBare(element) ? null : element;
    };
  }
  if (given === undefined) return () => null;
  if (op === 'replace') {
    // RFC 7644 §3.5.2.3: the value replaces the element. The parts that the filter implies stay.
    const whole = { ...(filter && impliedBy(filter)), ...elementOf(attribute, given) };
    return () => ({ ...whole });
  }
  const parts = readParts(attribute, given);
  if (parts === null) throw nothingIn(attribute);
  return (element) => {
    setParts(element, parts);
    return element;
  };
}

/** The new element that a path implies. Entra sends `emails[type eq "work"].value`. */
function createElement(
  op: Op,
  { attribute, filter, sub }: Path,
  given: unknown,
): ScimResource | null {
  if (given === undefined) return null;
  const implied = filter === null ? {} : impliedBy(filter);
  if (implied === null || (sub === null && op === 'replace')) throw noTarget(attribute);
  const element = sub === null ? { ...implied, ...elementOf(attribute, given) } : { ...implied };
  if (sub !== null) setOwn(element, sub.name, coerce(sub, given));
  if (isBare(element)) throw noTarget(attribute);
  return element;
}

/** The values that satisfy the filter. Null if the filter uses more than `eq` and `and`. */
function impliedBy(filter: Filter): ScimResource | null {
  if (filter.kind === 'compare' && filter.operator === 'eq') {
    return { [filter.target.attribute.name]: filter.value };
  }
  if (filter.kind !== 'and') return null;
  const parts = filter.filters.map(impliedBy);
  return parts.includes(null) ? null : Object.assign({}, ...parts);
}

function elementsIn(resource: ScimResource, attribute: Attribute): ScimResource[] {
  return valuesIn(resource, attribute).filter(isComplex);
}

function setElements(resource: ScimResource, attribute: Attribute, elements: ScimResource[]): void {
  assertFew(attribute, elements);
  setValue(resource, attribute, elements.length === 0 ? undefined : elements);
}

function elementsOf(attribute: Attribute, value: unknown): ScimResource[] {
  const elements = coerce(attribute, value);
  if (!Array.isArray(elements)) throw nothingIn(attribute);
  return elements.filter(isComplex);
}

function elementOf(attribute: Attribute, value: unknown): ScimResource {
  const [element, ...more] = elementsOf(attribute, value);
  if (element !== undefined && more.length === 0) return element;
  throw scimRefusal(
    400,
    'invalidValue',
    `The value must be exactly one element of ${attribute.name}.`,
  );
}

/** Whether the element has no content besides `type` and `primary`. */
function isBare(element: ScimResource): boolean {
  return Object.keys(element).every((name) => name === 'type' || name === 'primary');
}

function keyOf(attribute: Attribute, element: ScimResource): string {
  return JSON.stringify(attribute.subAttributes.map((sub): ScimValue => element[sub.name] ?? null));
}

function noTarget(attribute: Attribute) {
  return scimRefusal(400, 'noTarget', `The path matches no value of ${attribute.name}.`);
}

function nothingIn(attribute: Attribute) {
  return scimRefusal(400, 'invalidValue', `The value has no sub-attribute of ${attribute.name}.`);
}
