import { Refusal } from '../../errors.ts';
import { type Finding, wrong } from '../../finding.ts';
import type { NetworkReason } from '../../reasons.ts';
import { failureWords } from '../failure.ts';

// The findings of an examination, in idctl's own sentences. They never quote the provider (security
// S8), except for host names that the operator must allow. Only the operator also sees the issuer.

/** The names of the steps, in the order in which they are shown. */
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

/** The finding for a failed request to `what`. Rethrows any error that is not a refusal. */
export function unanswered(error: unknown, what: string): Finding<never> {
  if (!(error instanceof Refusal)) throw error;
  if (error.code === 'outbound_refused') return wrong(error.message, error.hint ?? elsewhere);
  const reason = networkReasonOf(error) ?? 'unreachable';
  return wrong(`${what} ${failureWords[reason]}`, hints[reason] ?? elsewhere);
}

function networkReasonOf({ failure }: Refusal): NetworkReason | undefined {
  const known = Object.keys(failureWords).find((reason) => reason === failure?.reason);
  // The value is a key of the table.
  return known as NetworkReason | undefined;
}

const elsewhere = 'Check that the provider is running, and that this machine can reach it.';

const hints: Partial<Record<NetworkReason, string>> = {
  redirected: 'Use the address that answers without a redirect.',
  too_large: 'Make the response of the provider smaller.',
  name_not_found: 'Check the spelling, and that this machine can resolve the name.',
  connection_refused: 'Check the port, and that the provider is running.',
  tls_untrusted:
    'Make the provider send its full certificate chain, or add its certificate authority to outbound.caFile.',
  tls_name_mismatch: 'Use a name in the certificate, or get a certificate for this name.',
  tls_expired: 'Renew the certificate, or check the clock of this machine.',
  tls_missing: 'Check the port, and that the provider supports TLS 1.2 or later.',
};
