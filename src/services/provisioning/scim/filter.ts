import type { Attribute } from '../../foundation/scim-user/attribute.ts';
import {
  columnOf,
  findSub,
  type Names,
  type Target,
  userNames,
} from '../../foundation/scim-user/names.ts';
import {
  type FilterOperator,
  type FilterToken,
  filterValue,
  invalidFilter,
  tokenize,
} from './filter-tokens.ts';

// Parses filters (RFC 7644 §3.4.2.2) by recursive descent. Resolves all names and types all values.
// Chains of `and` and `or` are flat. Only brackets and `not` nest, to a limited depth.

/** A filter with resolved names and typed values. Times are milliseconds. */
export type Filter =
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'present'; target: Target }
  | { kind: 'compare'; target: Target; operator: FilterOperator; value: string | boolean | number }
  /** An element of `attribute` satisfies `filter`, whose targets are its sub-attributes. */
  | { kind: 'element'; attribute: Attribute; filter: Filter };

const limits = { length: 4096, depth: 32, terms: 64, unindexed: 16 };

interface Reading {
  tokens: FilterToken[];
  next: number;
  depth: number;
  names: Names;
  /** Inside brackets: the attribute before them. */
  within: Attribute | null;
}

/** Parses the filter. 400 `invalidFilter` if it is malformed, too large or cannot be evaluated. */
export function parseFilter(text: string, names = userNames): Filter {
  return read(text, null, names);
}

/** Parses the filter between the brackets of a value path, on the attribute's sub-attributes. */
export function parseElementFilter(text: string, attribute: Attribute): Filter {
  return read(text, attribute, userNames);
}

function read(text: string, within: Attribute | null, names: Names): Filter {
  if (text.length > limits.length)
    throw invalidFilter(`it is longer than ${limits.length} characters`);
  const reading: Reading = { tokens: tokenize(text), next: 0, depth: 0, within, names };
  const filter = readAny(reading);
  const rest = reading.tokens[reading.next];
  if (rest !== undefined) throw invalidFilter(`"${rest.text.slice(0, 100)}" was not expected`);
  const terms = termsOf(filter);
  if (terms.length > limits.terms) throw invalidFilter(`it has more than ${limits.terms} terms`);
  if (terms.filter((term) => !isIndexed(term)).length > limits.unindexed) {
    throw invalidFilter(
      `it has more than ${limits.unindexed} terms on attributes without an index`,
    );
  }
  return filter;
}

/** The terms of the filter at every depth: its comparisons and its tests for a value. */
export function termsOf(filter: Filter): Filter[] {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.flatMap(termsOf);
  return filter.kind === 'not' || filter.kind === 'element' ? termsOf(filter.filter) : [filter];
}

/** Whether an index answers the term, or the term does not need a search. */
function isIndexed(term: Filter): boolean {
  if (term.kind !== 'compare' && term.kind !== 'present') return false;
  const column = columnOf(term.target);
  if (term.kind === 'present') return column !== null && column !== 'email';
  return (
    column === 'created' || column === 'lastModified' || (column !== null && term.operator === 'eq')
  );
}

function readAny(reading: Reading): Filter {
  return readChain(reading, 'or', () => readChain(reading, 'and', () => readOne(reading)));
}

function readChain(reading: Reading, kind: 'and' | 'or', readPart: () => Filter): Filter {
  const first = readPart();
  const filters = [first];
  while (takeWord(reading, kind)) filters.push(readPart());
  return filters.length === 1 ? first : { kind, filters };
}

function readOne(reading: Reading): Filter {
  if (reading.tokens[reading.next + 1]?.kind === '(' && takeWord(reading, 'not')) {
    return { kind: 'not', filter: readOne(reading) };
  }
  if (!take(reading, '(')) return readTerm(reading);
  return readNested(reading, ')');
}

function readNested(reading: Reading, end: ')' | ']'): Filter {
  reading.depth += 1;
  if (reading.depth > limits.depth)
    throw invalidFilter(`it nests deeper than ${limits.depth} levels`);
  const filter = readAny(reading);
  if (!take(reading, end)) throw invalidFilter(`a "${end}" is missing`);
  reading.depth -= 1;
  return filter;
}

function readTerm(reading: Reading): Filter {
  const target = resolve(reading, reading.within, wordOf(reading, 'an attribute'));
  if (take(reading, '[')) return readElement(reading, target);
  return readComparison(reading, target);
}

function readElement(reading: Reading, { attribute, sub }: Target): Filter {
  if (attribute.type !== 'complex' || sub !== null)
    throw invalidFilter(`${attribute.name} does not take brackets`);
  reading.within = attribute;
  const filter = readNested(reading, ']');
  if (attribute.column !== null) {
    reading.within = null;
    return readLink(attribute, filter);
  }
  // Entra sends filters such as: emails[type eq "work"].value eq "x".
  const after = reading.tokens[reading.next];
  if (after?.kind === 'word' && after.text.startsWith('.')) {
    reading.next += 1;
    const also = readComparison(reading, resolve(reading, attribute, after.text.slice(1)));
    reading.within = null;
    return { kind: 'element', attribute, filter: { kind: 'and', filters: [filter, also] } };
  }
  reading.within = null;
  return { kind: 'element', attribute, filter };
}

/** The groups of a User and the members of a Group can be compared only by id. */
function readLink(attribute: Attribute, filter: Filter): Filter {
  if (filter.kind !== 'compare')
    throw invalidFilter(`${attribute.name} can be compared only by its value`);
  return { ...filter, target: { attribute, sub: filter.target.attribute } };
}

function readComparison(reading: Reading, named: Target): Filter {
  const word = wordOf(reading, 'an operator').toLowerCase();
  if (word === 'pr') return { kind: 'present', target: named };
  if (!isOperator(word)) throw invalidFilter(`"${word.slice(0, 100)}" is not an operator`);
  const target = scalarOf(named);
  const token = reading.tokens[reading.next];
  if (token?.kind !== 'text' && token?.kind !== 'word')
    throw invalidFilter(`${word} needs a value`);
  reading.next += 1;
  if (token.kind === 'word' && token.text.toLowerCase() === 'null') return readNull(word, target);
  const isLink = isLinked(target) && word !== 'eq' && word !== 'ne';
  if (isLink) throw invalidFilter(`${target.attribute.name} cannot be compared with ${word}`);
  const value = filterValue(target.sub ?? target.attribute, word, token.text);
  return { kind: 'compare', target, operator: word, value };
}

function readNull(operator: FilterOperator, target: Target): Filter {
  const present: Filter = { kind: 'present', target };
  if (operator === 'ne') return present;
  if (operator === 'eq') return { kind: 'not', filter: present };
  throw invalidFilter(`null cannot be compared with ${operator}`);
}

function isLinked(target: Target): boolean {
  const column = columnOf(target);
  return column === 'group' || column === 'member';
}

function resolve({ names }: Reading, within: Attribute | null, name: string): Target {
  const sub = within === null ? null : findSub(within, name);
  const target = within === null ? names.findTarget(name) : sub && { attribute: sub, sub: null };
  if (target === null)
    throw invalidFilter(`"${name.slice(0, 100)}" is not an attribute of a ${names.kind}`);
  if (!(target.sub ?? target.attribute).searchable)
    throw invalidFilter(`${name} cannot be used in a filter`);
  return target;
}

// A complex attribute without a sub-attribute is compared by its `value` (RFC 7643 §2.4).
function scalarOf(target: Target): Target {
  const { attribute, sub } = target;
  if (sub !== null || attribute.type !== 'complex') return target;
  const value = findSub(attribute, 'value');
  if (value === null) throw invalidFilter(`${attribute.name} needs a sub-attribute to compare`);
  return { attribute, sub: value };
}

function isOperator(word: string): word is FilterOperator {
  return ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'].includes(word);
}

function take(reading: Reading, kind: FilterToken['kind']): boolean {
  if (reading.tokens[reading.next]?.kind !== kind) return false;
  reading.next += 1;
  return true;
}

function takeWord(reading: Reading, word: string): boolean {
  const token = reading.tokens[reading.next];
  if (token?.kind !== 'word' || token.text.toLowerCase() !== word) return false;
  reading.next += 1;
  return true;
}

function wordOf(reading: Reading, what: string): string {
  const token = reading.tokens[reading.next];
  if (token?.kind !== 'word') throw invalidFilter(`${what} is missing`);
  reading.next += 1;
  return token.text;
}
