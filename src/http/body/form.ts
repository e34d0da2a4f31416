import { parse } from 'node:querystring';
import type { Request, Response } from 'express';
import { Refusal, refuseField } from '../../errors.ts';
import { hasBody, readBytes, requirePlain, textOfBytes } from './bytes.ts';

const formType = 'application/x-www-form-urlencoded';
const maxFields = 1000;

/**
 * Reads the form fields of a request, up to `limit` bytes; a field sent twice is an array. Null if
 * the client has gone.
 */
export async function readForm(
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown> | null> {
  const known = forms.get(request);
  if (known !== undefined) return known;
  if (!hasBody(request)) return {};
  const hint = { technical: `Send it with Content-Type: ${formType}.` };
  if (!request.is(formType))
    throw new Refusal('unsupported_media_type', 'The body must be a form.', { hint });
  requirePlain(request, hint);
  const bytes = await readBytes(request, response, limit);
  if (bytes === null) return null;
  const text = textOfBytes(bytes);
  if (text.split('&', maxFields + 1).length > maxFields)
    throw new Refusal('payload_too_large', `The form has more than ${maxFields} fields.`);
  const form = { ...parse(text, '&', '=', { maxKeys: 0 }) };
  forms.set(request, form);
  return form;
}

/**
 * Reads the known fields of a form. An unknown field is ignored, an empty field counts as absent, and
 * a repeated field is refused (security X6). Null if the client has gone.
 */
export async function collectFields(
  known: (field: string) => boolean,
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown> | null> {
  const form = await readForm(request, response, limit);
  if (form === null) return null;
  const repeated = Object.entries(form).find(([, value]) => typeof value !== 'string');
  if (repeated) throw refuseField(repeated[0], 'is given more than once');
  return Object.fromEntries(
    Object.entries(form).filter(([field, value]) => known(field) && value !== ''),
  );
}

/** The forms that were read: the OpenID provider reads a form before the route of OAuth apps. */
const forms = new WeakMap<Request, Record<string, unknown>>();
