import express, { type Request, type RequestHandler, type Response } from 'express';
import { Refusal } from '../errors.ts';

const formType = 'application/x-www-form-urlencoded';

/** Reads the form fields of a request, up to `limit` bytes; a field sent twice is an array. */
export async function readForm(
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown>> {
  if (!hasBody(request)) return {};
  if (!request.is(formType)) {
    throw new Refusal('unsupported_media_type', 'The body must be a form.', {
      hint: `Send it with Content-Type: ${formType}.`,
    });
  }
  requireSize(request, limit);
  const parser = express.urlencoded({ extended: false, limit, inflate: false, type: formType });
  // The parser makes an object of every form.
  return (await parseBody(parser, request, response)) as Record<string, unknown>;
}

/** Reads the JSON object in the body of a request, up to `limit` bytes. */
export async function readJson(
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown>> {
  if (!hasBody(request)) return {};
  if (!request.is('application/json')) {
    throw new Refusal('unsupported_media_type', 'The body must be JSON.', {
      hint: 'Send it with Content-Type: application/json.',
    });
  }
  requireSize(request, limit);
  const parser = express.json({ limit, inflate: false, type: 'application/json' });
  const body = await parseBody(parser, request, response);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid_input', 'The body must be a JSON object.');
  }
  return { ...body };
}

/** Whether the headers of the request announce a body. */
export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Refuses a declared length above the limit. The parser would read the whole body first. */
function requireSize({ headers }: Request, limit: number): void {
  if (Number(headers['content-length']) > limit)
    throw new Refusal('payload_too_large', `The body is larger than ${limit / 1024} KiB.`);
}

/** The body of a request, read by a parser of Express. */
export function parseBody(
  parser: RequestHandler,
  request: Request,
  response: Response,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    parser(request, response, (error: unknown) => (error ? reject(error) : resolve(request.body)));
  });
}
