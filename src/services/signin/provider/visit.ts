import { AsyncLocalStorage } from 'node:async_hooks';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import type { ClientRow } from './client-row.ts';
import type { LiveSession } from './live-session.ts';
import type { Reading } from './reading.ts';

// The provider has no session of its own: each of its requests is bound to a live session of idctl,
// or to none. Nothing in a cookie of the provider can stand in for that row.

/** An answer of the package that idctl may still change. */
export type Answering = Pick<
  KoaContextWithOIDC,
  'path' | 'status' | 'body' | 'set' | 'remove' | 'response'
>;

/** How the provider shows itself to people and programs. */
export interface Pages {
  /** Shows why a request cannot go back to its client. */
  fail(koa: Answering, out: ErrorOut, error: unknown): void;
  /** Sends an answer to the client by a form, without script. */
  post(koa: Answering, redirectUri: string, answer: Record<string, unknown>): void;
  /** Answers a program, where the package or the database failed. */
  breakOff(koa: Answering, fault: unknown): void;
}

/** One request to the provider. */
export interface ProviderVisit {
  ctx: Context;
  session: LiveSession | null;
  /** The clients that this request has read, by client id. */
  clients: Map<string, ClientRow>;
  /** What one statement has read for it. Without it, each thing is read when it is needed. */
  read?: Reading | null;
  /** How this request is answered where idctl answers in the place of the package. */
  pages: Pages;
  /** The code that this request uses up with the access token that it gives. */
  code?: string;
  /** Why the package failed, if it did. */
  fault?: unknown;
}

const visits = new AsyncLocalStorage<ProviderVisit>();

/** Runs the work as this request. */
export function during<T>(visit: ProviderVisit, work: () => T): T {
  return visits.run(visit, work);
}

/** The request that runs now. */
export function visitNow(): ProviderVisit {
  const visit = visits.getStore();
  if (visit === undefined) throw new Error('the provider runs outside a request');
  return visit;
}
