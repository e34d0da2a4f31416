import type { SocialWord } from '../../outbound/outbound.ts';
import { canonicalEmail } from '../domains/canonical.ts';
import { name as nameField } from '../fields.ts';
import { signInFailed } from '../sessions/failed.ts';

/** Somebody whose address the provider has verified. */
export interface SocialPerson {
  issuer: string;
  subject: string;
  /** Canonical. */
  email: string;
  name: string;
}

/** Who the provider says has signed in, if it says that it has verified their address (security O5). */
export function requirePerson({ issuer, subject, email, emailVerified, name }: SocialWord): SocialPerson {
  if (email === null) throw signInFailed('email_missing');
  if (!emailVerified) throw signInFailed('email_not_verified');
  const address = canonicalEmail(email);
  if (address === null) throw signInFailed('email_malformed');
  const called = nameField.safeParse(name).data ?? address.slice(0, address.indexOf('@'));
  return { issuer, subject, email: address, name: called };
}
