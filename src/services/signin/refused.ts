import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import type { SignInMethod } from '../../database/models/session.ts';
import { unsynced } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import type { Reason } from '../../reasons.ts';
import { networkOf, siteOf } from '../../text/address.ts';
import { domainOf } from '../foundation/domain-names/canonical.ts';
import { findOwner } from '../foundation/domain-names/owns.ts';
import { tallyEvent } from '../foundation/events/record.ts';

interface RefusedSignIn {
  method: SignInMethod;
  account: Account | null;
  /** The canonical address that was given, if the method takes one. */
  email?: string;
}

/**
 * Records a refused sign-in: one counted event per account and method in 15 minutes. Without an
 * account, there is one per client site and verified domain of the address, not per network: a site
 * can have 65536 networks. The event names the client network that failed last (security X5).
 */
export async function recordRefusedSignIn(
  ctx: Context,
  { method, account, email, reason }: RefusedSignIn & { reason: Reason },
): Promise<void> {
  const address = networkOf(ctx.client.address);
  // Read for known accounts too, so that the response time does not reveal whether one exists.
  const verified = await verifiedDomainOf(email);
  const domain = account === null ? verified : null;
  const subject =
    account === null ? {} : { subject: { type: 'user', id: account.id, name: account.name } };
  const data = { method, reason, address, ...(domain !== null && { domain }) };
  const what = { kind: 'signin.refused' as const, data, ...subject };
  // A counter that goes back warns of a copied passkey, so each reason has its own event.
  const detail = method === 'passkey' ? reason : domain;
  const apart = detail === null ? method : `${method} ${detail}`;
  await unsynced(() =>
    tallyEvent(ctx, what, { of: account?.id ?? siteOf(ctx.client.address), apart }),
  );
}

/** The domain of the address, if an organization has verified it. */
async function verifiedDomainOf(email: string | undefined): Promise<string | null> {
  if (email === undefined) return null;
  const domain = domainOf(email);
  return (await findOwner(domain)) === null ? null : domain;
}

/** The internal reason of a `signin_failed` refusal, or null for every other error. */
export function reasonOfFailure(error: unknown): Reason | null {
  return error instanceof Refusal && error.code === 'signin_failed' ? (error.reason ?? null) : null;
}

/** The reason to record for a refused sign-in; null for an error that is not recorded. */
export function reasonToRecord(error: unknown): Reason | null {
  const told = error instanceof Refusal ? error.code : null;
  if (told === 'signin_method_off') return 'method_off';
  return told === 'sign_in_first' ? told : reasonOfFailure(error);
}

/** Whether the person was refused, rather than asked for a second factor. */
export function isRefusalOfPerson(error: unknown): error is Refusal {
  return (
    error instanceof Refusal &&
    error.kind === 'unauthenticated' &&
    error.code !== 'second_factor_required'
  );
}

/** Whether the sign-in failed, so that the attempt was a wrong guess. */
export function isWrongGuess(error: unknown): boolean {
  return reasonOfFailure(error) !== null;
}

/** Records the refused sign-in, if the error is one. */
export async function recordIfRefused(
  ctx: Context,
  error: unknown,
  by: RefusedSignIn,
): Promise<void> {
  const reason = reasonToRecord(error);
  if (reason !== null) await recordRefusedSignIn(ctx, { ...by, reason });
}

/** How a provider failed. The log and the event get it, the person never does. */
export interface ProviderFailure {
  stage: string;
  reason: string;
  message: string;
}

/**
 * Records a provider that could not be used, with `record`: each error once for each connection or
 * provider (`of`). Returns the error that the person sees: only admins learn where the provider is
 * and why it failed (security S8).
 */
export async function reportFailure(
  error: unknown,
  of: string,
  words: { message: string; hint: string },
  record: (failure: ProviderFailure) => Promise<void>,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  const { message, code, failure } = error;
  const stage = failure !== undefined && 'stage' in failure ? failure.stage : 'discovery';
  const reason = failure?.reason ?? code;
  await recordOnce(error, of, () => record({ stage, reason, message }));
  return new Refusal('provider_failed', words.message, { hint: words.hint, cause: error });
}

const recorded = new WeakMap<Refusal, Set<string>>();

/**
 * Records a failure once. A cached failure is shown to any number of strangers for some seconds, so
 * repeats must not cost a write (security X5).
 */
async function recordOnce(failure: Refusal, of: string, record: () => Promise<void>) {
  const done = recorded.get(failure) ?? new Set();
  recorded.set(failure, done);
  if (!done.has(of)) await record();
  done.add(of);
}
