import type { Request } from 'express';
import type { Refusal } from '../../errors.ts';
import type { ScimType } from '../../reasons.ts';
import { scimRefusal } from '../../services/foundation/scim-user/refusal.ts';
import type { ListQuery } from '../../services/provisioning/scim/list/query.ts';
import type { UserRequest } from './answer.ts';

/** The parameters of a list or a projection, from the URL or from a search request. */
export type ListParameters = Omit<ListQuery, 'org'>;

/** Reads the parameters in the URL, with names in any case. Unknown names are ignored. */
export function readQuery(request: Request): ListParameters {
  const { searchParams } = new URL(request.url, 'http://idctl');
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, value] of searchParams) given[name.toLowerCase()] ??= value;
  return parametersOf(given);
}

/** The one resource that a request is about, and its parameters. */
export function readOne({ org, request }: UserRequest, id: string) {
  return { org, id, ifMatch: request.headers['if-match'], ...readQuery(request) };
}

/** Reads the parameters in the body of a search request (RFC 7644 §3.4.3). */
export function readSearch(body: unknown): ListParameters {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('invalidSyntax', 'A search request must be a JSON object.');
  }
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(body)) given[name.toLowerCase()] ??= value;
  return parametersOf(given);
}

function parametersOf(given: Record<string, unknown>): ListParameters {
  return {
    filter: textOf('filter', given['filter']),
    sortBy: textOf('sortBy', given['sortby']),
    sortOrder: textOf('sortOrder', given['sortorder']),
    startIndex: integerOf('startIndex', given['startindex']),
    count: integerOf('count', given['count']),
    attributes: listOf('attributes', given['attributes']),
    excludedAttributes: listOf('excludedAttributes', given['excludedattributes']),
  };
}

/** Reads a text. A null or empty value counts as unset. */
function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalid('invalidValue', `${name} must be a text.`);
  const unsound = value.includes('\0') || !value.isWellFormed();
  if (unsound)
    throw invalid(name === 'filter' ? 'invalidFilter' : 'invalidValue', `${name} is not Unicode.`);
  return value;
}

function listOf(name: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return textOf(name, value);
  return value.map((element) => textOf(name, element) ?? '').join(',');
}

const largest = 2 ** 31 - 1;

function integerOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number =
    typeof value === 'string' && /^[+-]?\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    throw invalid('invalidValue', `${name} must be an integer.`);
  }
  return Math.min(largest, Math.max(-largest, number));
}

function invalid(scimType: ScimType, message: string): Refusal {
  return scimRefusal(400, scimType, message);
}
