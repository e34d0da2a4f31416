import type { Response } from 'express';
import type { Refusal } from '../../errors.ts';
import { refusalHeaders, statuses } from '../refusals.ts';

/** The media type of every SCIM answer (RFC 7644 §3.1); Express would add a charset to it. */
const mediaType = 'application/scim+json';
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The reply to one SCIM request. */
export interface ScimReply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a reply. */
export function send(response: Response, { status, body, headers = {} }: ScimReply): void {
  response.status(status).set({ 'Cache-Control': 'private, no-cache', ...headers });
  if (body === undefined) return void response.end();
  response.setHeader('Content-Type', mediaType);
  response.end(JSON.stringify(body));
}

/** An error of RFC 7644 §3.12; its status is a string. */
export function errorReply(
  status: number,
  detail: string,
  more: { scimType?: string } = {},
): ScimReply {
  return { status, body: { schemas: [errorSchema], status: `${status}`, ...more, detail } };
}

/** A refusal as a SCIM error. */
export function refusalReply(refusal: Refusal): ScimReply {
  const { message, hint, extra } = refusal;
  const scimType = extra['scimType'] ?? scimTypes[refusal.code];
  const detail =
    hint === undefined || refusal.kind === 'overloaded' ? message : `${message} ${hint}`;
  return {
    ...errorReply(statuses[refusal.kind], detail, typeof scimType === 'string' ? { scimType } : {}),
    headers: refusalHeaders(refusal),
  };
}

/** The SCIM error types of refusal codes. */
const scimTypes: Partial<Record<Refusal['code'], string>> = {
  already_exists: 'uniqueness',
  invalid_json: 'invalidSyntax',
};

/** The answer to a bug; it only says where to look. */
export function faultReply(requestId: string): ScimReply {
  return errorReply(
    500,
    `idctl failed on this request. Its log says why, under the request id ${requestId}.`,
  );
}

/** Refuses a method, and names the methods that are possible. */
export function methodReply(methods: readonly string[]): ScimReply {
  const allow = methods.includes('GET') ? ['HEAD', ...methods] : methods;
  const reply = errorReply(405, `Use ${methods.join(' or ')} here.`);
  return { ...reply, headers: { Allow: allow.join(', ') } };
}
