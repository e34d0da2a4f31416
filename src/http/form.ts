import express, { type Request, type Response } from 'express';
import { Refusal } from '../errors.ts';

const formType = 'application/x-www-form-urlencoded';

/** Reads the form fields of a request, up to `limit` bytes; a field sent twice is an array. */
export async function readForm(
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown>> {
  const { headers } = request;
  const empty =
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (empty) return {};
  if (!request.is(formType)) {
    throw new Refusal('unsupported_media_type', 'The body must be a form.', {
      hint: `Send the body with Content-Type: ${formType}.`,
    });
  }
  if (Number(headers['content-length']) > limit) {
    throw new Refusal('payload_too_large', `The body is larger than ${limit / 1024} KiB.`);
  }
  const parse = express.urlencoded({ extended: false, limit, inflate: false, type: formType });
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error: unknown) => (error ? reject(error) : resolve()));
  });
  // Express types a body as any.
  const body: Record<string, unknown> = request.body;
  return body;
}
