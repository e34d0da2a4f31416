import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { parse } from '../../input.ts';
import { largeBodyLate, turnsOf } from '../../services/foundation/limits/turns.ts';
import { readCookie } from '../cookies.ts';
import { collectForm } from '../oauth/form.ts';
import { type Fill, pathKeys, type Route } from '../route.ts';
import { hasBody, requirePlain } from './bytes.ts';
import { checkInput, fieldsOf, refuseNul } from './check.ts';
import { excessOf } from './count.ts';
import { collectFields } from './form.ts';
import { keepPlace, readInTurn } from './place.ts';
import { checkInThread, largeBody } from './thread.ts';

/**
 * Reads and checks the input of a route. Path keys come from the URL, and `filled` fields from
 * cookies or headers. The other fields come from the body, or from the query if the method has no
 * body. Null if the client has gone.
 */
export async function readInput(
  route: Route,
  request: Request,
  response: Response,
  { ctx, secure }: { ctx: Context; secure: boolean },
): Promise<Record<string, unknown> | null> {
  const query = readQuery(route, request);
  const check = (given: Record<string, unknown>) =>
    checkInput(route, given, { ...request.params, ...fillIn(route, given, request, secure) });
  if (!takesBody(route)) {
    if (hasBody(request)) {
      throw new Refusal('malformed_request', `${route.method} does not take a body on this path.`, {
        hint: 'Send the fields in the query.',
      });
    }
    return check(query);
  }
  const [stray] = Object.keys(query);
  if (stray !== undefined) throw refuseField(stray, 'belongs in the body, not in the query');
  const known = (field: string) => isKnown(route, field);
  if (route.speaks === 'oauth') {
    const limit = route.body.bytes;
    const form = await collectForm(known, request, response, limit);
    return form && check(form);
  }
  if (route.crossSiteForm) {
    const form = await collectFields(known, request, response, route.body.bytes);
    return form && check(form);
  }
  if (!hasBody(request)) return check({});
  const bytes = await readJsonBytes(ctx, route, request, response);
  if (bytes === null) return null;
  if (bytes.length > largeBody) return checkInThread(route, bytes, { ...request.params });
  return check(fieldsOf(bytes));
}

/** Whether the input of the route is in the body of the request. */
export function takesBody({ method }: { method: string }): boolean {
  return /^(POST|PUT|PATCH)$/.test(method);
}

/** Checks the fields in the path. These do not need the body. */
export function checkPath(route: Route, { params }: Request): void {
  refuseNul(params);
  const schema = pathSchemas.get(route) ?? pathSchemaOf(route);
  pathSchemas.set(route, schema);
  parse(schema, { ...params });
}

const pathSchemas = new WeakMap<Route, z.ZodType>();

function pathSchemaOf({ path, input }: Route): z.ZodType {
  const keys = new Set(pathKeys(path));
  return z.object(Object.fromEntries(Object.entries(input.shape).filter(([key]) => keys.has(key))));
}

async function readJsonBytes(ctx: Context, { body }: Route, request: Request, response: Response) {
  const hint = {
    technical: 'Send the body with Content-Type: application/json and without Content-Encoding.',
  };
  if (!request.is('application/json')) {
    throw new Refusal('unsupported_media_type', 'The body must be JSON.', {
      hint: { technical: 'Send it with Content-Type: application/json.' },
    });
  }
  requirePlain(request, hint);
  const sender = ctx.actor.kind === 'user' ? ctx.actor.accountId : ctx.actor.kind;
  const bytes = await readInTurn(ctx, sender, request, response, body.bytes);
  const excess = bytes && (await excessOf(bytes, body));
  if (excess) throw new Refusal('invalid_input', excess);
  if (bytes && bytes.length > largeBody)
    await keepPlace(turnsOf(ctx).body, sender, response, largeBodyLate);
  return bytes;
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

/** Whether the request asks for a dry run. `readInput` checks the value. */
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

/** The fields that the server fills in. With `orGiven`, a field that the caller sent wins. */
function fillIn(
  { filled = {} }: Route,
  given: Record<string, unknown>,
  request: Request,
  secure: boolean,
) {
  const fills = Object.entries(filled).flatMap(([field, fill]) => {
    const isGiven = typeof fill === 'object' && fill.orGiven && Object.hasOwn(given, field);
    return fill === undefined || isGiven
      ? []
      : [[field, filledWith(fill, request, secure)] as const];
  });
  return Object.fromEntries(fills);
}

function filledWith(fill: Fill, request: Request, secure: boolean): unknown {
  if (typeof fill === 'object') return readCookie(request.headers.cookie, fill.cookie, secure);
  return Object.keys(request.headers).some((name) => name.startsWith('sec-fetch-'));
}
