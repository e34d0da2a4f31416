import type { Request, Response } from 'express';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { turnsOf } from '../../services/foundation/limits/turns.ts';
import { scimRefusal } from '../../services/foundation/scim-user/refusal.ts';
import { maxKeys } from '../../services/provisioning/scim/patch-operations.ts';
import { requirePlain } from '../body/bytes.ts';
import { jsonOf } from '../body/check.ts';
import { excessOf } from '../body/count.ts';
import { keepPlace, readInTurn } from '../body/place.ts';
import { parseInThread } from '../body/thread.ts';

/** A push of a group that is larger than this waits for a place, and the thread parses it. */
const largePush = 1024 * 1024;
const usualKib = 256;
const kibOfGroup = 4096;
const limits = { values: 100_000, keys: maxKeys };
const mediaTypes = ['application/scim+json', 'application/json'];

/**
 * Reads the JSON body. Refuses other media types, and a body that is too large, has too many values
 * or nests too deeply. Undefined if the client has gone.
 */
export async function readBody(
  ctx: Context,
  org: string,
  [collection = '', id = '']: string[],
  request: Request,
  response: Response,
): Promise<unknown> {
  const isGroup = /^groups$/i.test(collection) && !/^\.search$/i.test(id);
  const kib = isGroup ? kibOfGroup : usualKib;
  const types = 'The body must be application/scim+json or application/json.';
  if (!request.is(mediaTypes)) throw new Refusal('unsupported_media_type', types);
  requirePlain(request, types);
  const limit = kib * 1024;
  const bytes = await readInTurn(ctx, org, request, response, limit);
  if (bytes === null) return undefined;
  if (bytes.length === 0) throw new Refusal('invalid_json', 'The body is empty.');
  const excess = await excessOf(bytes, limits);
  if (excess !== null) throw scimRefusal(400, 'invalidValue', excess);
  // A push of a group is never refused for this: it waits as long as it takes.
  if (bytes.length > largePush) await keepPlace(turnsOf(ctx).push, org, response);
  const body = bytes.length > largePush ? await parseInThread(bytes) : jsonOf(bytes);
  if (typeof body !== 'object' || body === null)
    throw new Refusal('invalid_json', 'The body is not a JSON object.');
  return body;
}
