import type { Request, Response } from 'express';
import { Refusal, refuseField } from '../errors.ts';
import { hasBody, readJson } from './body.ts';
import { readCookie } from './cookies.ts';
import { gatherForm } from './oauth/gather.ts';
import { type Fill, pathKeys, type Route } from './route.ts';

const usualLimit = 100 * 1024;
const depthLimit = 32;

/**
 * Collects the input for the route's schema. Path keys come from the URL, and `filled` fields from
 * cookies or headers. The other fields come from the body, or from the query if the method has no
 * body.
 */
export async function gatherInput(
  route: Route,
  request: Request,
  response: Response,
  { secure }: { secure: boolean },
): Promise<Record<string, unknown>> {
  const given = await readGiven(route, request, response);
  checkShape(given);
  const input: Record<string, unknown> = { ...given };
  for (const key of pathKeys(route.path)) {
    refuseGiven(given, key);
    input[key] = request.params[key];
  }
  for (const [field, fill] of Object.entries(route.filled ?? {})) {
    if (fill === undefined || (isDefault(fill) && Object.hasOwn(given, field))) continue;
    refuseGiven(given, field);
    input[field] = fillIn(fill, request, secure);
  }
  checkShape(request.params);
  return input;
}

async function readGiven(route: Route, request: Request, response: Response) {
  const query = readQuery(route, request);
  if (!/^(POST|PUT|PATCH)$/.test(route.method)) {
    if (hasBody(request)) {
      throw new Refusal('malformed_request', `${route.method} takes no body on this path.`, {
        hint: 'Send the fields in the query.',
      });
    }
    return query;
  }
  const [stray] = Object.keys(query);
  if (stray !== undefined) throw refuseField(stray, 'belongs in the body, not in the query');
  if (route.speaks === 'oauth') {
    return await gatherForm((field) => isKnown(route, field), request, response, usualLimit);
  }
  return await readJson(request, response, route.bodyLimit ?? usualLimit);
}

function readQuery(route: Route, request: Request): Record<string, unknown> {
  // Express types a query as any.
  const query: Record<string, unknown> = request.query;
  const entries = Object.entries(query);
  const repeated = entries.find(([, value]) => typeof value !== 'string');
  if (repeated) throw refuseField(repeated[0], 'is given more than once');
  if (route.dryRun) return withoutDryRun(query);
  if (!route.lenientQuery && route.speaks !== 'oauth') return query;
  return Object.fromEntries(entries.filter(([key]) => isKnown(route, key)));
}

function withoutDryRun({ dryRun, ...query }: Record<string, unknown>): Record<string, unknown> {
  if (dryRun === undefined || dryRun === 'true' || dryRun === 'false') return query;
  throw refuseField('dryRun', 'must be true or false');
}

/** Whether the request asks for a dry run. `gatherInput` checks the value. */
export function asksDryRun(route: Route, request: Request): boolean {
  return route.dryRun && request.query['dryRun'] === 'true';
}

/** Whether the request asks for a view in place of an empty 204 answer (RFC 7240). */
export function prefersView(request: Request): boolean {
  const given = request.get('Prefer') ?? '';
  return given.split(',').some((part) => /^\s*return="?representation"?\s*(;|$)/i.test(part));
}

function isKnown(route: Route, field: string): boolean {
  return Object.hasOwn(route.input.shape, field) && !Object.hasOwn(route.filled ?? {}, field);
}

/** Refuses input that nests too deeply, or that contains NUL, which PostgreSQL cannot store. */
function checkShape(value: unknown, depth = 1): void {
  if (typeof value === 'string' && value.includes('\0')) {
    throw new Refusal('invalid_input', 'The input contains a NUL character.');
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > depthLimit) {
    throw new Refusal('invalid_input', `The body nests deeper than ${depthLimit} levels.`);
  }
  for (const member of Object.values(value)) checkShape(member, depth + 1);
}

function refuseGiven(given: Record<string, unknown>, field: string): void {
  if (Object.hasOwn(given, field)) throw refuseField(field, 'is not a known field');
}

function isDefault(fill: Fill): boolean {
  return typeof fill === 'object' && fill.orGiven === true;
}

function fillIn(fill: Fill, request: Request, secure: boolean): unknown {
  if (typeof fill === 'object') return readCookie(request.headers.cookie, fill.cookie, secure);
  return Object.keys(request.headers).some((name) => name.startsWith('sec-fetch-'));
}
