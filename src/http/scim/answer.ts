import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Context } from '../../context.ts';
import type { Refusal } from '../../errors.ts';
import type { ScimType } from '../../reasons.ts';
import { namesTag } from '../../services/provisioning/scim/users/present.ts';
import { routeText } from '../next.ts';
import { refusalHeaders, statuses } from '../refusals.ts';

/** The media type of every SCIM answer (RFC 7644 §3.1). Express would add a charset. */
const mediaType = 'application/scim+json';
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The reply to one SCIM request. */
export interface ScimReply {
  status: number;
  /** A value, or its JSON in parts. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** An authenticated request below an organization's SCIM base URL. */
export interface UserRequest {
  ctx: Context;
  org: string;
  method: string;
  /** The parts of the path after the base URL. */
  path: readonly string[];
  request: Request;
  /** The JSON in the body of a POST, PUT or PATCH. */
  body: unknown;
}

/** Answers one method of a resource. */
export type ScimHandler = (asked: UserRequest) => Promise<ScimReply>;

/** Sends a reply. If a part cannot be generated, cuts the reply off and throws. */
export async function send(response: Response, reply: ScimReply): Promise<void> {
  const { status, body, headers = {} } = reply;
  response.status(status).set({ 'Cache-Control': 'private, no-cache', ...headers });
  if (body === undefined) return void response.end();
  response.setHeader('Content-Type', mediaType);
  if (!isInParts(body)) return void response.end(JSON.stringify(body));
  if (response.req.method === 'HEAD') return void response.end();
  await pipeline(Readable.from(body, { objectMode: false }), response);
}

function isInParts(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** A resource as its service presents it. */
interface Resource {
  body: unknown;
  etag: string;
  location: string;
}

/** The reply with a resource, its ETag (RFC 7644 §3.14) and its URL (RFC 7643 §3.1). */
export function shown({ body, etag, location }: Resource, status = 200): ScimReply {
  const headers = { ETag: etag, Location: location, 'Content-Location': location };
  return { status, body, headers };
}

/** Shows a resource, unless the client has it in this version. */
export function shownIfChanged({ request }: UserRequest, resource: Resource): ScimReply {
  const known = request.headers['if-none-match'];
  if (known === undefined || !namesTag(known, resource.etag)) return shown(resource);
  return { status: 304, headers: { ETag: resource.etag } };
}

/** An error answer of RFC 7644 §3.12, where the status is a string. */
export function errorReply(
  status: number,
  detail: string,
  more: { scimType?: ScimType } = {},
): ScimReply {
  return { status, body: { schemas: [errorSchema], status: `${status}`, ...more, detail } };
}

/** A refusal as a SCIM error. */
export function refusalReply(refusal: Refusal): ScimReply {
  const { message } = refusal;
  const hint = routeText(refusal.hint);
  const scimType = refusal.scimType ?? scimTypes[refusal.code];
  const detail =
    hint === undefined || refusal.kind === 'overloaded' ? message : `${message} ${hint}`;
  return {
    ...errorReply(statuses[refusal.kind], detail, scimType === undefined ? {} : { scimType }),
    headers: refusalHeaders(refusal),
  };
}

/** The SCIM error types of refusal codes. */
const scimTypes: Partial<Record<Refusal['code'], ScimType>> = {
  already_exists: 'uniqueness',
  invalid_json: 'invalidSyntax',
};

/** The answer to a bug. The client only learns where to look in the log. */
export function faultReply(requestId: string): ScimReply {
  return errorReply(
    500,
    `idctl failed on this request. For the cause, search its log for the request id ${requestId}.`,
  );
}

/** Refuses a method, and names the methods that the resource has. */
export function methodReply(methods: readonly string[]): ScimReply {
  const allow = methods.includes('GET') ? ['HEAD', ...methods] : methods;
  const reply = errorReply(405, `Use ${methods.join(' or ')} on this path.`);
  return { ...reply, headers: { Allow: allow.join(', ') } };
}
