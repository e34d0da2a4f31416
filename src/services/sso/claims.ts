import type { Proof } from '../../outbound/outbound.ts';
import { canonicalEmail, domainOf } from '../domains/canonical.ts';
import { name as nameField } from '../fields.ts';

/** What the provider's answer says of the person, or why it is not accepted. */
export type Profile = { ok: true; email: string; name: string } | { ok: false; reason: string };

/**
 * Reads the e-mail address and the name from the claims (spec §4.1 step 4, security I6): the address
 * comes from userinfo, is canonical, and is exactly on the connection's domain.
 */
export function readProfile(
  proof: Pick<Proof, 'userinfo'>,
  connection: { emailDomain: string; ignoreEmailVerified: boolean },
): Profile {
  const { email: claimed, email_verified: verified } = proof.userinfo;
  if (typeof claimed !== 'string' || claimed === '') return { ok: false, reason: 'email_missing' };
  const email = canonicalEmail(claimed);
  if (email === null) return { ok: false, reason: 'email_malformed' };
  if (domainOf(email) !== connection.emailDomain) return { ok: false, reason: 'email_domain_differs' };
  if (!connection.ignoreEmailVerified && !isVerified(verified))
    return { ok: false, reason: 'email_not_verified' };
  return { ok: true, email, name: nameIn(proof.userinfo) ?? email.slice(0, email.indexOf('@')) };
}

/** Absent is accepted: the organization has verified the domain, and Entra never sends the claim. */
function isVerified(claim: unknown): boolean {
  return claim === undefined || claim === null || claim === true || claim === 'true';
}

function nameIn({ name, given_name: given, family_name: family }: Record<string, unknown>): string | null {
  const parts = [given, family].filter((part) => typeof part === 'string').join(' ');
  for (const text of [name, parts]) {
    const parsed = nameField.safeParse(text);
    if (parsed.success) return parsed.data;
  }
  return null;
}
