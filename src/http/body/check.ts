import { Refusal, refuseField } from '../../errors.ts';
import { parse } from '../../input.ts';
import type { Route } from '../route.ts';
import { textOfBytes } from './bytes.ts';

// Checks the input of a route. A thread does this for large bodies (`thread.ts`).

/** The value of a JSON body. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOfBytes(bytes));
  } catch {
    throw new Refusal('invalid_json', 'The body is not JSON.');
  }
}

/** The fields of a JSON body, which must be an object. */
export function fieldsOf(bytes: Uint8Array): Record<string, unknown> {
  const body = bytes.length === 0 ? {} : jsonOf(bytes);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  const code = Array.isArray(body) ? 'invalid_input' : 'invalid_json';
  throw new Refusal(code, 'The body must be a JSON object.');
}

/** Refuses input that contains NUL, which PostgreSQL cannot store. */
export function refuseNul(value: unknown): void {
  if (typeof value === 'string' && value.includes('\0')) {
    throw new Refusal('invalid_input', 'The input contains a NUL character.');
  }
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) refuseNul(member);
}

/**
 * Merges the fields that the caller gave with those from the path, cookies and headers, and parses
 * them with the route's schema.
 */
export function checkInput(
  route: Route,
  given: Record<string, unknown>,
  fromRequest: Record<string, unknown>,
): Record<string, unknown> {
  refuseNul(given);
  refuseNul(fromRequest);
  const twice = Object.keys(fromRequest).find((field) => Object.hasOwn(given, field));
  if (twice !== undefined) throw refuseField(twice, 'is not a known field');
  return parse(route.input, { ...given, ...fromRequest });
}
