import type { Attribute } from '../../foundation/scim-user/attributes.ts';
import { isStorable } from '../../foundation/scim-user/values.ts';
import { invalidFilter } from './filter-tokens.ts';

const equality: FilterOperator[] = ['eq', 'ne'];
const textual: FilterOperator[] = ['co', 'sw', 'ew'];

/**
 * Converts the text to a value that the operator can compare with the attribute. Instants are in
 * milliseconds.
 */
export function filterValue(
  attribute: Attribute,
  operator: FilterOperator,
  text: string,
): string | boolean | number {
  const ordered = attribute.type !== 'boolean' && attribute.type !== 'binary';
  const allowed =
    equality.includes(operator) ||
    (textual.includes(operator)
      ? attribute.type !== 'boolean' && attribute.type !== 'dateTime'
      : ordered);
  if (!allowed) throw invalidFilter(`${operator} does not compare ${attribute.name}`);
  if (attribute.type === 'boolean') return readBoolean(attribute, text);
  if (attribute.type === 'dateTime') return readInstant(attribute, text);
  if (!isStorable(text)) throw invalidFilter('a value holds NUL or half a character');
  return text;
}

function readBoolean(attribute: Attribute, text: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false')
    throw invalidFilter(`${attribute.name} is true or false`);
  return word === 'true';
}

const dateTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

function readInstant(attribute: Attribute, text: string): number {
  const zoned = /T.*(Z|[+-]\d\d:\d\d)$/i.test(text) || !/T/i.test(text) ? text : `${text}Z`;
  const instant = dateTime.test(text) ? Date.parse(zoned.toUpperCase()) : Number.NaN;
  const year = new Date(instant).getUTCFullYear();
  // Both databases support these years, and store none as a negative number.
  if (!(year >= 1 && year <= 9999))
    throw invalidFilter(`${attribute.name} is an instant of RFC 3339`);
  return instant;
}

/** A comparison of RFC 7644 §3.4.2.2 other than `pr`. */
export type FilterOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
