import type { Proof } from '../../../outbound/outbound.ts';

/**
 * Whether the provider answers for an address that it says to have verified. Google says of itself that it does for its
 * own mail and for accounts that an organization manages there; any other address was somebody's when they made the
 * account, and may be another's by now (decision 0009). Other providers are taken at their word.
 */
export function answersFor(
  { issuer, managedBy }: Pick<Proof, 'issuer' | 'managedBy'>,
  domain: string,
): boolean {
  return issuer !== googleIssuer || managedBy !== null || googleMail.includes(domain);
}

const googleIssuer = 'https://accounts.google.com';
const googleMail = ['gmail.com', 'googlemail.com'];
