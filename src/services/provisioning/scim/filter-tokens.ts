import type { Refusal } from '../../../errors.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';

/** A token of a filter: a bracket, a decoded quoted text, or a run of other characters. */
export interface FilterToken {
  kind: '(' | ')' | '[' | ']' | 'text' | 'word';
  text: string;
}

const piece = /\s+|([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+)/sy;

/**
 * The tokens of a filter, in order. 400 `invalidFilter` for an unterminated text or an invalid JSON
 * string.
 */
export function tokenize(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < filter.length) {
    const found = piece.exec(filter);
    if (found === null) throw invalidFilter('a quoted value does not end');
    const [, bracket, quoted, word] = found;
    // The expression captures only these four.
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

/** The refusal of a filter. */
export function invalidFilter(what: string): Refusal {
  return scimRefusal(400, 'invalidFilter', `The filter cannot be used: ${what}.`);
}
