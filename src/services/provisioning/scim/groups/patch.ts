import type { Attribute, ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { isObject, isUnset, unwrapped } from '../../../foundation/scim-user/values.ts';
import { type Filter, parseElementFilter } from '../filter.ts';
import { type PatchOperation, readOperations } from '../patch-operations.ts';
import { groupNames } from './attributes.ts';
import { type Members, readExternalId, readMembers, readName } from './read.ts';

// A PATCH of a group becomes a difference: the members are not read, so that it costs the same in
// a group of any size.

/** What a client changes of a group. */
export interface GroupChange {
  displayName?: string;
  externalId?: string | null;
  /** Whether the members before are gone, but for those in `adds`. */
  clears: boolean;
  adds: Members;
  removes: Set<string>;
}

/** A group without its members, as its client sees it. */
export interface OwnGroup {
  id: string;
  meta: ScimResource;
}

// authentik sends one operation for each member.
const mostOperations = 10_000;

/** Reads a PATCH body (RFC 7644 §3.5.2), completely or with a refusal. */
export function readGroupPatch(body: unknown, own: OwnGroup): GroupChange {
  const change: GroupChange = { clears: false, adds: new Map(), removes: new Set() };
  for (const operation of readOperations(body, mostOperations)) {
    if (operation.path === null) readWhole(change, operation, own);
    else readAt(change, operation, operation.path);
  }
  return change;
}

/** An operation without a path. Unknown attributes are dropped, unless there is nothing else. */
function readWhole(change: GroupChange, { op, value }: PatchOperation, own: OwnGroup): void {
  if (op === 'remove') throw scimRefusal(400, 'noTarget', 'A remove operation needs a path.');
  const given = unwrapped(value);
  if (!isObject(given))
    throw scimRefusal(400, 'invalidValue', 'A value without a path is an object.');
  let known = 0;
  for (const [key, part] of Object.entries(given)) {
    const isSchema = groupNames.findSchema(key) !== null;
    const target = groupNames.findTarget(key);
    if (!isSchema && (target === null || target.sub !== null)) continue;
    known += 1;
    if (isSchema) readWhole(change, { op, path: null, value: part }, own);
    else if (target !== null && !isOwn(own, target.attribute, part))
      apply(change, op, target.attribute, part);
  }
  if (known === 0 && Object.keys(given).length > 0)
    throw scimRefusal(400, 'invalidPath', 'The value has no attribute of a Group.');
}

/** Whether the value repeats what the group has anyway, which some clients send back. */
function isOwn(own: OwnGroup, { name }: Attribute, given: unknown): boolean {
  if (name === 'schemas') return true;
  if (name === 'id') return given === own.id;
  if (name !== 'meta' || !isObject(given)) return false;
  return Object.entries(given).every(([part, value]) => value === own.meta[part]);
}

const form = /^([^[\]]+)(?:\[(.*)\])?$/s;

function readAt(change: GroupChange, { op, value }: PatchOperation, path: string): void {
  const [, name = '', brackets] = form.exec(path.trim()) ?? [];
  const target = groupNames.findTarget(name);
  if (target === null || target.sub !== null)
    throw scimRefusal(400, 'invalidPath', `A Group has no attribute "${path.slice(0, 100)}".`);
  if (brackets === undefined) {
    apply(change, op, target.attribute, value);
    return;
  }
  if (target.attribute.name !== 'members')
    throw scimRefusal(400, 'invalidPath', `${name} has no elements to choose from.`);
  const ids = idsIn(parseElementFilter(brackets, target.attribute));
  if (op === 'remove') for (const id of ids) remove(change, id);
  // The path names one member, and nothing else of it can change.
  else for (const id of ids) add(change, id, null);
}

/** The ids that a value path names. */
function idsIn(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.filters.flatMap(idsIn);
  if (filter.kind === 'compare' && filter.operator === 'eq' && typeof filter.value === 'string')
    return [filter.value.toLowerCase()];
  throw scimRefusal(400, 'invalidFilter', 'Name members like this: members[value eq "ID"].');
}

function apply(
  change: GroupChange,
  op: PatchOperation['op'],
  { name, mutability }: Attribute,
  value: unknown,
): void {
  if (mutability !== 'readWrite')
    throw scimRefusal(400, 'mutability', `A client cannot change ${name}.`);
  if (name === 'members') applyMembers(change, op, value);
  else if (name === 'externalId')
    change.externalId = op === 'remove' ? null : readExternalId(value);
  else if (op === 'remove') throw scimRefusal(400, 'mutability', 'A Group needs its displayName.');
  else change.displayName = readName(value);
}

function applyMembers(change: GroupChange, op: PatchOperation['op'], value: unknown): void {
  const isEmptyList = Array.isArray(value) && value.length === 0;
  if (op === 'replace' || (op === 'remove' && isUnset(value) && !isEmptyList)) {
    change.clears = true;
    change.adds.clear();
    change.removes.clear();
  }
  const members = readMembers(value);
  if (op === 'remove') for (const id of members.keys()) remove(change, id);
  else for (const [id, display] of members) add(change, id, display);
}

function add({ adds, removes }: GroupChange, id: string, display: string | null): void {
  removes.delete(id);
  if (!adds.has(id)) adds.set(id, display);
}

function remove({ adds, removes }: GroupChange, id: string): void {
  adds.delete(id);
  removes.add(id);
}
