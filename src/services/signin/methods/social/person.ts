import type { SocialWord } from '../../../../outbound/outbound.ts';
import { canonicalEmail, domainOf } from '../../../foundation/domain-names/canonical.ts';
import { name as nameField } from '../../../foundation/fields.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import { answersFor } from '../../redirect/answers-for.ts';

/** A person whose address the provider has verified. */
export interface SocialPerson {
  issuer: string;
  subject: string;
  /** Canonical. */
  email: string;
  /**
   * Whether the provider guarantees that the address is theirs today. If not, only the key
   * identifies them.
   */
  proven: boolean;
  name: string;
}

/**
 * The person that the provider names, if it says that it has verified their address (security O5).
 */
export function requirePerson(word: SocialWord): SocialPerson {
  const { issuer, subject, email, emailVerified, name } = word;
  if (email === null) throw signInFailed('email_missing');
  if (!emailVerified) throw signInFailed('email_not_verified');
  const address = canonicalEmail(email);
  if (address === null) throw signInFailed('email_malformed');
  const called = nameField.safeParse(name).data ?? address.slice(0, address.indexOf('@'));
  return {
    issuer,
    subject,
    email: address,
    proven: answersFor(word, domainOf(address)),
    name: called,
  };
}
