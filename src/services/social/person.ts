import type { SocialWord } from '../../outbound/outbound.ts';
import { canonicalEmail, domainOf } from '../domains/canonical.ts';
import { name as nameField } from '../fields.ts';
import { signInFailed } from '../sessions/failed.ts';

/** Somebody whose address the provider has verified. */
export interface SocialPerson {
  issuer: string;
  subject: string;
  /** Canonical. */
  email: string;
  /** Whether the provider answers for it that the address is theirs today; else the key alone says who they are. */
  proven: boolean;
  name: string;
}

/** Who the provider says has signed in, if it says that it has verified their address (security O5). */
export function requirePerson(word: SocialWord): SocialPerson {
  const { issuer, subject, email, emailVerified, name } = word;
  if (email === null) throw signInFailed('email_missing');
  if (!emailVerified) throw signInFailed('email_not_verified');
  const address = canonicalEmail(email);
  if (address === null) throw signInFailed('email_malformed');
  const called = nameField.safeParse(name).data ?? address.slice(0, address.indexOf('@'));
  return { issuer, subject, email: address, proven: answersFor(word, domainOf(address)), name: called };
}

/**
 * Whether the provider answers for an address that it says to have verified. Google says of itself that it does for its
 * own mail and for accounts that an organization manages there; any other address was somebody's when they made the
 * account, and may be another's by now. Of another provider in Google's place the operator says that it does.
 */
function answersFor({ issuer, managedBy }: SocialWord, domain: string): boolean {
  return issuer !== googleIssuer || managedBy !== null || googleMail.includes(domain);
}

const googleIssuer = 'https://accounts.google.com';
const googleMail = ['gmail.com', 'googlemail.com'];
