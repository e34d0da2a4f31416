import type { Attribute, ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { isObject, unwrapped } from '../../../foundation/scim-user/values.ts';
import { type Filter, parseElementFilter } from '../filter.ts';
import { type PatchOperation, readManyOperations } from '../patch-operations.ts';
import { groupNames } from './attributes.ts';
import { type Members, readExternalId, readMembers, readName } from './read.ts';

// Turns a PATCH of a group into a list of changes. It does not read the members, so that its cost
// does not depend on the size of the group.

/** The changes that a client makes to a group. */
export interface GroupChange {
  displayName?: string;
  externalId?: string | null;
  /** Whether all current members are removed, except those in `adds`. */
  clears: boolean;
  adds: Members;
  removes: Set<string>;
}

interface GroupPatch {
  change: GroupChange;
  /** Values of `id` and `meta`, which must equal the values of the group. */
  repeated: { attribute: Attribute; value: unknown }[];
}

// authentik sends one operation for each member.
const maxOperations = 10_000;

/** Reads a PATCH body (RFC 7644 §3.5.2), completely or not at all. */
export async function readGroupPatch(body: unknown): Promise<GroupPatch> {
  const change: GroupChange = { clears: false, adds: new Map(), removes: new Set() };
  const patch: GroupPatch = { change, repeated: [] };
  for await (const operation of readManyOperations(body, maxOperations)) {
    if (operation.path === null) await readWhole(patch, operation);
    else await readAt(change, operation, operation.path);
  }
  return patch;
}

/**
 * Refuses with `id` and `meta` unless they equal the group's values, which some clients send back.
 */
export function requireOwn(
  repeated: GroupPatch['repeated'],
  own: { id: string; meta: ScimResource },
): void {
  for (const { attribute, value } of repeated) {
    const isOwn =
      attribute.name === 'id'
        ? value === own.id
        : isObject(value) &&
          Object.entries(value).every(([part, given]) => given === own.meta[part]);
    if (!isOwn) throw notWritten(attribute);
  }
}

/** Reads an operation without a path. Ignores unknown attributes, unless all are unknown. */
async function readWhole(patch: GroupPatch, { op, value }: PatchOperation): Promise<void> {
  if (op === 'remove') throw scimRefusal(400, 'noTarget', 'A remove operation needs a path.');
  const given = unwrapped(value);
  if (!isObject(given))
    throw scimRefusal(400, 'invalidValue', 'Without a path, the value must be an object.');
  let known = 0;
  for (const [key, part] of Object.entries(given)) {
    const isSchema = groupNames.findSchema(key) !== null;
    const target = groupNames.findTarget(key);
    if (!isSchema && (target === null || target.sub !== null)) continue;
    known += 1;
    if (isSchema) await readWhole(patch, { op, path: null, value: part });
    else if (target?.attribute.name === 'id' || target?.attribute.name === 'meta')
      patch.repeated.push({ attribute: target.attribute, value: part });
    else if (target !== null && target.attribute.name !== 'schemas')
      await apply(patch.change, op, target.attribute, part);
  }
  if (known === 0 && Object.keys(given).length > 0)
    throw scimRefusal(400, 'invalidPath', 'The value does not contain an attribute of a Group.');
}

const form = /^([^[\]]+)(?:\[(.*)\])?$/s;

async function readAt(
  change: GroupChange,
  { op, value }: PatchOperation,
  path: string,
): Promise<void> {
  const [, name = '', brackets] = form.exec(path.trim()) ?? [];
  const target = groupNames.findTarget(name);
  if (target?.attribute.mutability === 'readOnly') throw notWritten(target.attribute);
  if (target === null || target.sub !== null)
    throw scimRefusal(400, 'invalidPath', `A Group has no attribute "${path.slice(0, 100)}".`);
  if (brackets === undefined) {
    await apply(change, op, target.attribute, value);
    return;
  }
  if (target.attribute.name !== 'members')
    throw scimRefusal(400, 'invalidPath', `${name} has no elements to choose from.`);
  const ids = idsIn(parseElementFilter(brackets, target.attribute));
  if (op === 'remove') for (const id of ids) remove(change, id);
  // The path already names the members. The value may only repeat the id of one of them.
  else {
    const given = unwrapped(value);
    const named = isObject(given) ? given['value'] : undefined;
    if (named !== undefined && !ids.includes(String(named).toLowerCase()))
      throw scimRefusal(400, 'mutability', 'The path and the value name different members.');
    for (const id of ids) add(change, id, null);
  }
}

function idsIn(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.filters.flatMap(idsIn);
  if (filter.kind === 'compare' && filter.operator === 'eq' && typeof filter.value === 'string')
    return [filter.value.toLowerCase()];
  throw scimRefusal(400, 'invalidFilter', 'Name members like this: members[value eq "ID"].');
}

async function apply(
  change: GroupChange,
  op: PatchOperation['op'],
  attribute: Attribute,
  value: unknown,
): Promise<void> {
  const { name } = attribute;
  if (attribute.mutability !== 'readWrite') throw notWritten(attribute);
  if (name === 'members') await applyMembers(change, op, value);
  else if (name === 'externalId')
    change.externalId = op === 'remove' ? null : readExternalId(value);
  else if (op === 'remove') throw scimRefusal(400, 'mutability', 'A Group needs its displayName.');
  else change.displayName = readName(value);
}

function notWritten({ name }: Attribute) {
  return scimRefusal(400, 'mutability', `A client cannot change ${name}.`);
}

async function applyMembers(
  change: GroupChange,
  op: PatchOperation['op'],
  value: unknown,
): Promise<void> {
  if (op === 'replace' || (op === 'remove' && (value === undefined || value === null))) {
    change.clears = true;
    change.adds.clear();
    change.removes.clear();
  }
  const members = await readMembers(value, op === 'remove' ? 'remove' : 'add');
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
