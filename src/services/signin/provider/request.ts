import { AsyncLocalStorage } from 'node:async_hooks';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import type { ClientRow } from './client-row.sql.ts';
import type { LiveSession } from './live-session.sql.ts';
import type { ReadForRequest } from './reading.sql.ts';

// idctl's OpenID provider does not have sessions of its own: each request is bound to a live
// session of idctl, or to none. A cookie of the package cannot replace that session.

/** An answer of the package that idctl may still change. */
export type Answering = Pick<
  KoaContextWithOIDC,
  'path' | 'status' | 'body' | 'set' | 'remove' | 'response'
>;

/** A person who may not use an application, and who can give them access. */
export interface Denied {
  application: string;
  homeUrl: string | null;
  email: string | null;
  /** The person's own organization, and some of its owners and admins; null for a stranger. */
  organization: { name: string; managers: string[] } | null;
}

/** Where a person can go who may not use an application. */
export interface DeniedWays {
  /** The application, with the error `access_denied`: an address, or a form to send to it. */
  back: string | { to: string; answer: Record<string, unknown> };
  /** The same request again, with another account. */
  otherAccount: string;
}

/** The answers to people and programs that idctl itself writes. */
export interface Pages {
  /** Shows why a request cannot go back to its client. */
  fail(koa: Answering, out: ErrorOut, error: unknown): void;
  /** Sends an answer to the client with a form that does not need a script. */
  post(koa: Answering, redirectUri: string, answer: Record<string, unknown>): void;
  /** Tells a person that they may not use the application, and offers `ways` to go on. */
  deny(koa: Answering, denied: Denied, ways: DeniedWays): void;
  /** Answers a program after the package or the database failed. */
  breakOff(koa: Answering, fault: unknown): void;
}

/** One request to idctl's OpenID provider. */
export interface ProviderRequest {
  readonly ctx: Context;
  readonly session: LiveSession | null;
  /** The clients that this request has read, by client id. */
  readonly clients: Map<string, ClientRow>;
  /** The rows that one statement has read; if absent, each row is read when needed. */
  readonly read?: ReadForRequest | null;
  /** The answers that idctl writes in place of the package. */
  readonly pages: Pages;
  /** The cookie that the forms of this browser are bound to. */
  readonly browser?: string;
  /** Why the package failed, if it did. The answer to the request needs this. */
  fault?: unknown;
}

const visits = new AsyncLocalStorage<ProviderRequest>();

/** Runs the work with this request as the current one. */
export function during<T>(visit: ProviderRequest, work: () => T): T {
  return visits.run(visit, work);
}

/** The current request, for functions that the package calls. They pass it on as a value. */
export function requestNow(): ProviderRequest {
  const visit = visits.getStore();
  if (visit === undefined) throw new Error('the provider runs outside a request');
  return visit;
}
