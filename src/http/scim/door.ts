import type { Request, RequestHandler, Response } from 'express';
import type { App, Context } from '../../context.ts';
import { ClientGone, Refusal } from '../../errors.ts';
import { isUuid } from '../../services/foundation/fields.ts';
import { noteRequest } from '../../services/provisioning/scim/log.ts';
import { findScimActor, withLiveToken } from '../../services/provisioning/scim/token.ts';
import { findCredential } from '../authenticate.ts';
import { takesBody } from '../body/input.ts';
import { receive } from '../receive.ts';
import { refusalForClients } from '../refusals.ts';
import { openRequest, traceOf } from '../trace.ts';
import { faultReply, refusalReply, type ScimReply, send } from './answer.ts';
import { readBody } from './body.ts';
import { findAnswer } from './resources.ts';

// The SCIM server (RFC 7644) is separate from the REST API. Its answers, including its errors, have
// SCIM's own form.

/** Answers every path below `/scim` in upper or lower case. Passes other paths on. */
export function serveScim(app: App): RequestHandler {
  return async (request, response, next) => {
    // Most paths do not need to be decoded.
    if (!/^\/[s%]/i.test(request.path)) return next();
    const path = partsOf(request.path);
    if (path[0]?.toLowerCase() !== 'scim') return next();
    const ctx = openRequest(app, request);
    const reply = await answer(ctx, path, request, response).catch((error: unknown) => {
      if (error instanceof ClientGone) return null;
      return replyTo(app, error, request);
    });
    if (reply === null) return void response.destroy();
    const sent = await send(response, reply).then(
      () => reply,
      (error: unknown) => {
        if (!response.destroyed) response.destroy();
        return isHungUp(error) ? reply : replyTo(app, error, request);
      },
    );
    note(ctx, orgIn(path), request, sent);
  };
}

/** Whether the client closed the connection before the end of the answer. */
function isHungUp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

async function answer(
  ctx: Context,
  path: string[],
  request: Request,
  response: Response,
): Promise<ScimReply> {
  const received = await receive(request, response, {
    // A SCIM client is not a browser, so pages of other sites cannot use its token.
    origins: null,
    who: () => findActor(ctx, path, request),
    right: () => undefined,
    read: ({ org }) => readFor(ctx, org, path.slice(4), request, response),
  });
  if (received === null) throw new ClientGone('the client has gone');
  const { answer, body } = received.given;
  if (typeof answer !== 'function') return answer;
  const { actor, org } = received.who;
  const { method } = request;
  return withLiveToken(
    () => findActor(ctx, path, request),
    () => answer({ ctx: { ...ctx, actor }, org, method, path: path.slice(4), request, body }),
  );
}

/** Finds the SCIM client of the organization in the path. Every other token is refused. */
async function findActor(ctx: Context, path: string[], request: Request) {
  const org = orgIn(path);
  const credential = findCredential(request);
  if (credential === null) throw new Refusal('unauthenticated', 'No token was sent.');
  const { value, at } = credential;
  const actor = org === null || at !== 'bearer' ? null : await findScimActor(ctx, org, value);
  if (org === null || actor === null) throw refused();
  traceOf(request).actor = actor;
  return { org, actor };
}

/** Finds the resource, and reads the body if its method takes one. */
async function readFor(
  ctx: Context,
  org: string,
  path: string[],
  request: Request,
  response: Response,
) {
  const { method } = request;
  const answer = findAnswer({ method, path });
  const reads = typeof answer === 'function' && takesBody(request);
  if (!reads) return { answer, body: undefined };
  const body = await readBody(ctx, org, path, request, response);
  return body === undefined ? null : { answer, body };
}

/** The refusal of any token that is not the organization's SCIM token. */
function refused(): Refusal {
  return new Refusal(
    'invalid_credential',
    'The Bearer token is not the SCIM token of this organization.',
  );
}

/** The id of the organization in the path, or null. */
function orgIn([, version, orgs, org = '']: string[]): string | null {
  const based = version?.toLowerCase() === 'v2' && orgs?.toLowerCase() === 'orgs';
  return based && isUuid(org) ? org.toLowerCase() : null;
}

/** The parts of a path. A part that cannot be decoded stays encoded, and matches no resource. */
function partsOf(path: string): string[] {
  const parts = path.split('/').map(decoded);
  return parts.slice(1, parts.at(-1) === '' ? -1 : undefined);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function replyTo(app: App, error: unknown, request: Request): ScimReply {
  const trace = traceOf(request);
  const refusal = error instanceof Refusal ? error : app.refusalOf(error);
  if (refusal === null) {
    app.log.error({ requestId: trace.requestId, err: error }, 'bug');
    return faultReply(trace.requestId);
  }
  trace.refusal = refusal;
  return refusalReply(
    refusal.code === 'invalid_credential' ? refused() : refusalForClients(refusal),
  );
}

function note(
  ctx: Context,
  organizationId: string | null,
  { method, path }: Request,
  reply: ScimReply,
): void {
  if (organizationId === null) return;
  const { status, body } = reply;
  const reason = status < 400 ? null : reasonIn(body);
  noteRequest(ctx, { organizationId, at: ctx.now, method, path, status, reason });
}

function reasonIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('detail' in body)) return null;
  const scimType = 'scimType' in body ? `${body.scimType}: ` : '';
  return `${scimType}${body.detail}`;
}
