import type { Request, Response } from 'express';
import { Refusal, refuseField } from '../../errors.ts';
import { collectFields } from '../body/form.ts';

// A client sends a form (RFC 6749 §2.3, §3.2). It authenticates in the form or with HTTP Basic.

/** Reads the known fields of the form, and the client's id and secret. Null if the client has gone. */
export async function collectForm(
  known: (field: string) => boolean,
  request: Request,
  response: Response,
  limit: number,
): Promise<Record<string, unknown> | null> {
  const given = await collectFields(known, request, response, limit);
  if (given === null) return null;
  const client = readBasic(request);
  if (client === null) return given;
  const twice = 'is sent twice: in the form and with HTTP Basic. Use one of them';
  if (given['client_secret'] !== undefined) throw refuseField('client_secret', twice);
  if ((given['client_id'] ?? client.client_id) !== client.client_id)
    throw refuseField('client_id', 'names another client than HTTP Basic does');
  return { ...given, ...client };
}

/** Reads HTTP Basic; null if the client does not use it. Refuses a malformed header (P3). */
export function readBasic(request: Request): { client_id: string; client_secret: string } | null {
  const [value, ...more] = request.headersDistinct['authorization'] ?? [];
  const encoded = /^basic(?![\w!#$%&'*+.^`|~-]) *(.*)$/is.exec(value ?? '')?.[1];
  if (more.length > 0) throw unreadable('is sent more than once');
  if (encoded === undefined) return null;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw unreadable('is malformed');
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const [id, secret] = [decoded(text.slice(0, Math.max(0, colon))), decoded(text.slice(colon + 1))];
  if (colon === -1 || id === null || secret === null) throw unreadable('is malformed');
  return { client_id: id, client_secret: secret };
}

/** Decodes an id or secret, which is also form-encoded (RFC 6749 §2.3.1). */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function unreadable(fault: string): Refusal {
  return new Refusal('invalid_client', `The Authorization header ${fault}.`);
}
