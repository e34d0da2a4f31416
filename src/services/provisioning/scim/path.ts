import { type Attribute, enterpriseSchema } from '../../foundation/scim-user/attributes.ts';
import { findSub, findTarget } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { type Filter, parseElementFilter } from './filter.ts';

/**
 * The target of a PATCH path (RFC 7644 §3.5.2): an attribute, a filter on its elements, and their
 * part.
 */
export interface Path {
  attribute: Attribute;
  filter: Filter | null;
  sub: Attribute | null;
}

const form = /^([^[\]]+)(?:\[(.*)\](?:\.([\w$-]+))?)?$/s;

/** Parses the path; null if a User has no attribute of that name. 400 for invalid brackets. */
export function findPath(text: string): Path | null {
  const [, name = '', brackets, subName] = form.exec(text.trim()) ?? [];
  // Entra names attributes of the extension without its schema.
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
