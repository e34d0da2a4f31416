import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import type { AuthorizationResponse, Proof } from '../../../outbound/outbound.ts';
import { signInFailed } from '../../people/sessions/failed.ts';
import { type callbackInput, type FlowState, secretsOf } from './state.ts';

/** Redeems the returned code. If the provider refuses it, refuses `signin_failed`. */
export async function redeemCode<Proved>(
  ctx: Context,
  { id }: FlowState,
  { code = '', state = '', iss }: z.output<typeof callbackInput>,
  redeem: (response: AuthorizationResponse) => Promise<Proved>,
): Promise<Proved> {
  const query = { code, state, ...(iss === undefined ? {} : { iss }) };
  return redeem({ query, state, ...secretsOf(ctx, id) }).catch((error: unknown) => {
    const refused = error instanceof Refusal && error.code === 'provider_refused';
    throw refused ? signInFailed('provider_refused', error) : error;
  });
}

/**
 * Whether the provider guarantees an address that it says it has verified. Google states this only
 * of its own mail and of accounts that an organization manages there. Any other address was the
 * person's when they made the account, and may be another person's by now (decision 0009). Other
 * providers are trusted.
 */
export function answersFor(
  { issuer, managedBy }: Pick<Proof, 'issuer' | 'managedBy'>,
  domain: string,
): boolean {
  return issuer !== googleIssuer || managedBy !== null || googleMail.includes(domain);
}

const googleIssuer = 'https://accounts.google.com';
const googleMail = ['gmail.com', 'googlemail.com'];

/** How a provider failed: for the log and the event, never for the person. */
export interface Failure {
  stage: string;
  reason: string;
  message: string;
}

/**
 * Returns the error that the person sees. Only admins learn where the provider is and why it cannot
 * be used (security S8): `record` keeps it, once for each connection or provider (`of`).
 */
export async function toldOfFailure(
  error: unknown,
  of: string,
  words: { message: string; hint: string },
  record: (failure: Failure) => Promise<void>,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  const { message, code, extra } = error;
  const stage = String(extra['stage'] ?? 'discovery');
  const reason = String(extra['reason'] ?? code);
  await recordOnce(error, of, () => record({ stage, reason, message }));
  return new Refusal('provider_failed', words.message, { hint: words.hint, cause: error });
}

const recorded = new WeakMap<Refusal, Set<string>>();

/**
 * A cached failure is shown to any number of strangers for some seconds, so repeating it must cost
 * no write (security X5).
 */
async function recordOnce(failure: Refusal, of: string, record: () => Promise<void>) {
  const done = recorded.get(failure) ?? new Set();
  recorded.set(failure, done);
  if (!done.has(of)) await record();
  done.add(of);
}
