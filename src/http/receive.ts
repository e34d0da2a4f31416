import type { Request, Response } from 'express';
import { type Origins, refuseCrossSite } from './origins.ts';

/** The steps of a request, which `receive` takes in this order (security X11). */
export interface Steps<Who, Given> {
  origins: Origins | null;
  /** Finds who asks, with the limits on wrong credentials. */
  who(): Who | Promise<Who>;
  /** Refuses those who may not ask this, as far as it is known without the body. */
  right(who: Who): void | Promise<void>;
  /** Reads the body: its size, the number of its values, its syntax and its schema. */
  read(who: Who): Promise<Given | null>;
}

/**
 * Receives a request: decides who asks and whether they may, and only then reads the body. Null if
 * a step has answered the request, or if its client has gone.
 */
export async function receive<Who, Given>(
  request: Request,
  response: Response,
  { origins, who, right, read }: Steps<Who, Given>,
): Promise<{ who: Who; given: Given } | null> {
  if (origins !== null) refuseCrossSite(request, origins);
  const found = await who();
  if (isOver(response)) return null;
  await right(found);
  if (isOver(response)) return null;
  const given = await read(found);
  return given === null || isOver(response) ? null : { who: found, given };
}

function isOver({ writableEnded, closed }: Response): boolean {
  return writableEnded || closed;
}
