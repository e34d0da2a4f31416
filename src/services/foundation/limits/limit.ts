import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

/** What is counted, whose it is, and how many of it a window of time lets through. */
export interface Limit {
  /** Such as `password`. */
  name: string;
  /** Whom it is about: an account's canonical address or id, or a client's network. */
  of: string;
  /** Counts apart what differs in this. */
  apart?: string;
  most: number;
  seconds: number;
  /** Each window that follows a full one is twice as long, up to this; without it all are alike. */
  longest?: number;
}

/** The key of what a limit counts: a keyed hash, so that the table names no stranger. */
export function keyOf(
  ctx: Context,
  { name, of, apart = '' }: Pick<Limit, 'name' | 'of' | 'apart'>,
): string {
  return hash(ctx, [name, of, apart]);
}

/** The key under which everything counted of somebody is found. */
export function subjectOf(ctx: Context, of: string): string {
  return hash(ctx, [of]);
}

function hash(ctx: Context, parts: string[]): string {
  return createHmac('sha256', ctx.keyring.derive('counters'))
    .update(JSON.stringify(parts))
    .digest('base64url');
}
