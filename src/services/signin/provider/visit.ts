import { AsyncLocalStorage } from 'node:async_hooks';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import type { Session } from '../../../database/models/session.ts';
import { select } from '../../../database/select.ts';
import { idleSince, isUsable } from '../../people/sessions/live.ts';
import type { ClientRow } from './client-row.ts';

// idctl's OpenID provider has no session of its own: each request is bound to a live session of
// idctl, or to none. No cookie of the package can stand in for that row.

/** A live session, as idctl's OpenID provider sees it. */
export interface LiveSession extends Pick<Session, 'id' | 'accountId' | 'method'> {
  startedAt: Date;
  /** Whether idctl checked the account's second factor. */
  secondFactor: boolean;
  /** Whether the account has a passkey, which may have been that second factor. */
  hasPasskey: boolean;
}

/** An answer of the package that idctl may still change. */
export type Answering = Pick<
  KoaContextWithOIDC,
  'path' | 'status' | 'body' | 'set' | 'remove' | 'response'
>;

/** The answers to people and programs that idctl makes itself. */
export interface Pages {
  /** Shows why a request cannot go back to its client. */
  fail(koa: Answering, out: ErrorOut, error: unknown): void;
  /** Sends an answer to the client with a form that needs no script. */
  post(koa: Answering, redirectUri: string, answer: Record<string, unknown>): void;
  /** Answers a program after the package or the database failed. */
  breakOff(koa: Answering, fault: unknown): void;
}

/** One request to idctl's OpenID provider. */
export interface ProviderVisit {
  ctx: Context;
  session: LiveSession | null;
  /** The clients that this request has read, by client id. */
  clients: Map<string, ClientRow>;
  /** The answers that idctl makes in place of the package. */
  pages: Pages;
  /** The code to spend when this request stores the access token. */
  code?: string;
  /** Why the package failed, if it did. */
  fault?: unknown;
}

const visits = new AsyncLocalStorage<ProviderVisit>();

/** Runs the work with this request as the current one. */
export function during<T>(visit: ProviderVisit, work: () => T): T {
  return visits.run(visit, work);
}

/** The current request. */
export function visitNow(): ProviderVisit {
  const visit = visits.getStore();
  if (visit === undefined) throw new Error('the provider runs outside a request');
  return visit;
}

interface Row {
  accountId: string;
  method: Session['method'];
  startedAt: string | Date;
  secondFactorAt: unknown;
  hasPasskey: unknown;
}

/** The live session of this id, or null: it is not ended or expired, and the account is enabled. */
export async function findLiveSession(ctx: Context, id: string): Promise<LiveSession | null> {
  const [row] = await select<Row>(
    `SELECT s.account_id AS "accountId", s.method, s.created_at AS "startedAt",
        s.second_factor_at AS "secondFactorAt", a.has_passkey AS "hasPasskey"
      FROM sessions s JOIN accounts a ON a.id = s.account_id
      WHERE s.id = $1 AND ${isUsable('$2', '$3')}`,
    [id, ctx.now, idleSince(ctx)],
    { prepared: true },
  );
  if (row === undefined) return null;
  const { accountId, method, startedAt, secondFactorAt, hasPasskey } = row;
  return {
    id,
    accountId,
    method,
    startedAt: new Date(startedAt),
    secondFactor: secondFactorAt !== null,
    hasPasskey: Boolean(hasPasskey),
  };
}

/** How each method proves the person (RFC 8176; `fed` is a sign-in at an external provider). */
const proofs: Record<Session['method'], string> = {
  password: 'pwd',
  ldap: 'pwd',
  magicCode: 'otp',
  verification: 'otp',
  loginLink: 'otp',
  sso: 'fed',
  google: 'fed',
  github: 'fed',
  passkey: 'hwk',
};

/** The `acr` of a session with one factor and of one with two. */
export const acrValues = ['urn:idctl:1', 'urn:idctl:2'] as const;

/**
 * How strongly the person signed in. A provider's second factor does not count (security P12). If the
 * account has a passkey, the session does not say which second factor it was, only that there was one.
 */
export function strengthOf({ method, secondFactor, hasPasskey }: LiveSession) {
  const [one, two] = acrValues;
  const first = proofs[method];
  if (!secondFactor) return { acr: one, amr: [first] };
  return { acr: two, amr: [...new Set([first, ...(hasPasskey ? [] : ['otp']), 'mfa'])] };
}
