import { countSteps } from '../../../host/queue.ts';
import { type Attribute, enterpriseSchema } from '../../foundation/scim-user/attribute.ts';
import { findSub, findTarget } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { isObject, member } from '../../foundation/scim-user/values.ts';
import { type Filter, parseElementFilter } from './filter.ts';

/** One operation of a PATCH. */
export interface PatchOperation {
  op: 'add' | 'replace' | 'remove';
  /** Null for the resource itself. */
  path: string | null;
  /** Undefined if the operation has none. */
  value: unknown;
}

/** The maximum number of attributes of an object. More would delay other requests. */
export const maxKeys = 1000;
const unsafe = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads the operations of a PATCH body. Names may have any letter case. */
export function readOperations(body: unknown): PatchOperation[] {
  const operations = [...listOperations(body, 200)];
  for (const { value } of operations) for (const _ of checkKeys(value));
  return operations;
}

/** Reads the operations of a PATCH body, at most `max`. Lets other requests run in between. */
export async function* readManyOperations(
  body: unknown,
  max: number,
): AsyncGenerator<PatchOperation> {
  const step = countSteps();
  for (const operation of listOperations(body, max)) {
    for (const _ of checkKeys(operation.value)) {
      const turn = step();
      if (turn !== null) await turn;
    }
    yield operation;
  }
}

function* listOperations(body: unknown, max: number): Generator<PatchOperation> {
  const operations = isObject(body) ? member(body, 'Operations') : undefined;
  if (!Array.isArray(operations)) {
    throw scimRefusal(400, 'invalidSyntax', 'A PATCH must be an object with a list of Operations.');
  }
  if (operations.length > max) {
    throw scimRefusal(400, 'invalidValue', `A PATCH can have at most ${max} operations.`);
  }
  for (const operation of operations) yield readOperation(operation);
}

function readOperation(given: unknown): PatchOperation {
  if (!isObject(given)) throw scimRefusal(400, 'invalidSyntax', 'An operation must be an object.');
  const named = member(given, 'op');
  const op = typeof named === 'string' ? named.toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw scimRefusal(400, 'invalidSyntax', 'The op must be add, replace or remove.');
  }
  const path = member(given, 'path') ?? null;
  if (path !== null && typeof path !== 'string') {
    throw scimRefusal(400, 'invalidPath', 'The path of an operation must be a string.');
  }
  const value = member(given, 'value');
  if (value === undefined && op !== 'remove') {
    throw scimRefusal(400, 'invalidValue', `The operation ${op} needs a value.`);
  }
  return { op, path: path?.trim() ? path : null, value };
}

/** Refuses unsafe names, and objects with too many names. Yields before each object or list. */
function* checkKeys(value: unknown): Generator<void> {
  yield;
  // A loop, not recursion: the sender chooses how deep a body nests.
  const open: object[] = [];
  const visit = (part: unknown) => {
    if (typeof part === 'object' && part !== null) open.push(part);
  };
  visit(value);
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    yield;
    if (Array.isArray(one)) {
      for (const part of one) visit(part);
      continue;
    }
    const entries = Object.entries(one);
    if (entries.length > maxKeys)
      throw scimRefusal(400, 'invalidValue', `An object can have at most ${maxKeys} attributes.`);
    for (const [key, part] of entries) {
      if (key.split(/[.:[\]\s]/).some((name) => unsafe.has(name.toLowerCase()))) {
        throw scimRefusal(400, 'invalidPath', 'The value contains an unknown attribute.');
      }
      visit(part);
    }
  }
}

/** A PATCH path (RFC 7644 §3.5.2): an attribute, a filter on its elements, and a sub-attribute. */
export interface Path {
  attribute: Attribute;
  filter: Filter | null;
  sub: Attribute | null;
}

const form = /^([^[\]]+)(?:\[(.*)\](?:\.([\w$-]+))?)?$/s;

/** Parses the path. Null if a User has no such attribute. 400 for invalid brackets. */
export function findPath(text: string): Path | null {
  const [, name = '', brackets, subName] = form.exec(text.trim()) ?? [];
  // Entra omits the schema of the extension's attributes.
  const target = findTarget(name) ?? findTarget(`${enterpriseSchema}:${name}`);
  if (target === null || brackets === undefined) return target && { ...target, filter: null };
  const { attribute } = target;
  if (target.sub !== null || !attribute.multiValued || attribute.type !== 'complex') {
    throw scimRefusal(400, 'invalidPath', `${name} has no elements to choose from.`);
  }
  const sub = subName === undefined ? null : findSub(attribute, subName);
  if (sub === null && subName !== undefined) return null;
  return { attribute, filter: parseElementFilter(brackets, attribute), sub };
}
