import type { Refusal } from '../../../errors.ts';
import type { Attribute } from '../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { isStorable } from '../../foundation/scim-user/values.ts';

/** A token of a filter: a bracket, a decoded quoted string, or a run of other characters. */
export interface FilterToken {
  kind: '(' | ')' | '[' | ']' | 'text' | 'word';
  text: string;
}

const piece = /\s+|([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+)/sy;

/** Splits a filter into its tokens. 400 `invalidFilter` for an unterminated or invalid text. */
export function tokenize(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < filter.length) {
    const found = piece.exec(filter);
    if (found === null) throw invalidFilter('a quoted value does not end');
    const [, bracket, quoted, word] = found;
    // The expression captures only these four characters.
    if (bracket !== undefined)
      tokens.push({ kind: bracket as '(' | ')' | '[' | ']', text: bracket });
    if (quoted !== undefined) tokens.push({ kind: 'text', text: decoded(quoted) });
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
  }
  return tokens;
}

function decoded(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw invalidFilter(`${quoted.slice(0, 100)} is not a JSON string`);
  }
}

/** The refusal of an invalid filter. */
export function invalidFilter(what: string): Refusal {
  return scimRefusal(400, 'invalidFilter', `The filter cannot be used: ${what}.`);
}

const equality: FilterOperator[] = ['eq', 'ne'];
const textual: FilterOperator[] = ['co', 'sw', 'ew'];

/** The text as a value to compare with the attribute. A time becomes milliseconds. */
export function filterValue(attribute: Attribute, operator: FilterOperator, text: string) {
  const ordered = attribute.type !== 'boolean' && attribute.type !== 'binary';
  const allowed =
    equality.includes(operator) ||
    (textual.includes(operator)
      ? attribute.type !== 'boolean' && attribute.type !== 'dateTime'
      : ordered);
  if (!allowed) throw invalidFilter(`${attribute.name} cannot be compared with ${operator}`);
  if (attribute.type === 'boolean') return readBoolean(attribute, text);
  if (attribute.type === 'dateTime') return readInstant(attribute, text);
  if (!isStorable(text)) throw invalidFilter('a value contains NUL or an unpaired surrogate');
  return text;
}

function readBoolean(attribute: Attribute, text: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false')
    throw invalidFilter(`${attribute.name} must be true or false`);
  return word === 'true';
}

const dateTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

function readInstant(attribute: Attribute, text: string): number {
  const zoned = /T.*(Z|[+-]\d\d:\d\d)$/i.test(text) || !/T/i.test(text) ? text : `${text}Z`;
  const instant = dateTime.test(text) ? Date.parse(zoned.toUpperCase()) : Number.NaN;
  const year = new Date(instant).getUTCFullYear();
  // PostgreSQL has no year 0. On SQLite, times are texts, and other years would not sort in order.
  if (!(year >= 1 && year <= 9999))
    throw invalidFilter(`${attribute.name} must be a time as in RFC 3339`);
  return instant;
}

/** A comparison of RFC 7644 §3.4.2.2 other than `pr`. */
export type FilterOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
