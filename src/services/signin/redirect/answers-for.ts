import type { Proof } from '../../../outbound/outbound.ts';

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
