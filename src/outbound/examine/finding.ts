import type { z } from 'zod';
import { Refusal } from '../../errors.ts';
import { type Finding, wrong } from '../../finding.ts';
import { type Failure, failureWords } from '../failure.ts';

// The findings of an examination, in our own sentences. They never quote the provider (security
// S8), except for host names that the operator must allow. The issuer is shown too, but only to the
// operator.

/** The value of a JSON text, if it has this form. */
export function jsonIn<T>(text: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** The steps in order, by their names. */
export const stepNames = [
  'name',
  'TLS',
  'discovery',
  'issuer',
  'endpoints',
  'keys',
  'client authentication',
  'redirect URI',
  'clock',
] as const;
export type StepName = (typeof stepNames)[number];

/** The finding for a failed request of `what`. Other errors are bugs and are rethrown. */
export function unanswered(error: unknown, what: string): Finding<never> {
  if (!(error instanceof Refusal)) throw error;
  if (error.code === 'outbound_refused') return wrong(error.message, error.hint ?? elsewhere);
  const reason = failureIn(error) ?? 'unreachable';
  return wrong(`${what} ${failureWords[reason]}`, hints[reason] ?? elsewhere);
}

function failureIn({ extra }: Refusal): Failure | undefined {
  const known = Object.keys(failureWords).find((reason) => reason === extra['reason']);
  // The value is one of the table's own keys.
  return known as Failure | undefined;
}

const elsewhere = 'Check that the provider is up, and that this machine may reach it.';

const hints: Partial<Record<Failure, string>> = {
  redirected: 'Use the address that answers by itself, without a redirect.',
  too_large: 'Have the provider answer with less.',
  name_not_found: 'Check the spelling, and that this machine can resolve the name.',
  connection_refused: 'Check the port, and that the provider is up.',
  tls_untrusted:
    'Have the provider send its whole chain, or put its authority into the file outbound.caFile.',
  tls_name_mismatch: 'Use the name that the certificate is for, or have it issued for this one.',
  tls_expired: 'Have the certificate renewed; check the clock of this machine.',
  tls_missing: 'Check the port, and that the provider speaks TLS 1.2 or later there.',
};
