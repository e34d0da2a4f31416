import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

/** A limit: what is counted, for which subject, and how much a window of time allows. */
export interface Limit {
  /** For example `password`. */
  name: string;
  /** The subject: an account's canonical address or id, or a client's network. */
  of: string;
  /** Counts separately for each value. */
  apart?: string;
  most: number;
  seconds: number;
  /**
   * Each window after a full one is twice as long, up to this. Without it all windows are equal.
   */
  longest?: number;
}

/** The key of a limit's counter: a keyed hash, so that the table names no person. */
export function keyOf(
  ctx: Context,
  { name, of, apart = '' }: Pick<Limit, 'name' | 'of' | 'apart'>,
): string {
  return hash(ctx, [name, of, apart]);
}

/** The key to find all counters of one subject. */
export function subjectOf(ctx: Context, of: string): string {
  return hash(ctx, [of]);
}

function hash(ctx: Context, parts: string[]): string {
  return createHmac('sha256', ctx.keyring.derive('counters'))
    .update(JSON.stringify(parts))
    .digest('base64url');
}
