import express, { type Request, type Response } from 'express';
import { Refusal } from '../../errors.ts';
import { countSteps } from '../../queue.ts';
import { scimRefusal } from '../../services/foundation/scim-user/refusal.ts';
import { parseBody } from '../body.ts';
import { refusalOfParser } from '../refusals.ts';

const usualKib = 256;
const depthLimit = 32;
const mediaTypes = ['application/scim+json', 'application/json'];

/** Reads the JSON body. Refuses other media types, and a body too large or nested too deeply. */
export async function readBody(
  request: Request,
  response: Response,
  kib = usualKib,
): Promise<unknown> {
  if (!request.is(mediaTypes)) {
    throw new Refusal(
      'unsupported_media_type',
      'The body must be application/scim+json or application/json.',
    );
  }
  if (request.headers['content-length'] === '0')
    throw new Refusal('invalid_json', 'The body is empty.');
  // The parser reads a body over the limit to its end, because a proxy may still be sending it. A
  // body over sixteen times the limit is refused unread.
  if (Number(request.headers['content-length']) > 16 * kib * 1024) throw tooLarge(kib);
  const parser = express.json({ limit: kib * 1024, inflate: false, type: () => true });
  const body = await parseBody(parser, request, response).catch((error: unknown) => {
    throw refusalOf(error, kib);
  });
  await requireShallow(body);
  return body;
}

function refusalOf(error: unknown, kib: number): unknown {
  const refusal = refusalOfParser(error);
  return refusal?.code === 'payload_too_large' ? tooLarge(kib) : (refusal ?? error);
}

function tooLarge(kib: number): Refusal {
  return new Refusal('payload_too_large', `The body is larger than ${kib} KiB.`);
}

/** Refuses a body that nests too deeply. It pauses regularly, so that other requests can run. */
export async function requireShallow(body: unknown): Promise<void> {
  const step = countSteps(1000);
  let level = [body].filter(isNest);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthLimit) {
      throw scimRefusal(400, 'invalidValue', `The body nests deeper than ${depthLimit} levels.`);
    }
    const next: object[] = [];
    for (const nest of level) {
      for (const member of Array.isArray(nest) ? nest : Object.values(nest)) {
        if (isNest(member)) next.push(member);
        const turn = step();
        if (turn !== null) await turn;
      }
    }
    level = next;
  }
}

function isNest(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
