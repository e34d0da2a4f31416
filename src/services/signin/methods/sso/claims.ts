import type { Proof } from '../../../../outbound/outbound.ts';
import { canonicalEmail, domainOf } from '../../../foundation/domain-names/canonical.ts';
import { name as nameField } from '../../../foundation/fields.ts';
import { type Groups, readGroups } from '../../../provisioning/mappings/groups.ts';
import { answersFor } from '../../redirect/answers-for.ts';

/**
 * The claims that idctl uses of a person, and all that is kept of them while a second factor is
 * awaited.
 */
export interface Said {
  issuer: string;
  /** Null if the provider names none. */
  subject: string | null;
  /**
   * The canonical address, `denied` if the provider does not guarantee it; or what is wrong with
   * it.
   */
  email: { address: string; denied: boolean } | { reason: 'email_missing' | 'email_malformed' };
  name: string | null;
  /** An absent claim is unknown here; the connection decides later what it means. */
  groups: Groups;
}

/** The person as the connection sees them, or why they are refused. */
export type Profile = { ok: true; email: string; name: string } | { ok: false; reason: string };

/** Reads what the provider proved (spec §4.1 step 4 and 6): the address comes from userinfo. */
export function readProof(proof: Proof, groupsClaim: string): Said {
  const { issuer, subject, userinfo } = proof;
  return {
    issuer,
    subject,
    email: emailIn(userinfo, (domain) => answersFor(proof, domain)),
    name: nameIn(userinfo),
    groups: readGroups(proof, { groupsClaim, absentGroups: 'unknown' }),
  };
}

/**
 * The person as the connection sees them: the address must be exactly on its domain (security I6).
 */
export function profileOf(
  { email, name }: Pick<Said, 'email' | 'name'>,
  connection: { emailDomain: string; ignoreEmailVerified: boolean },
): Profile {
  if ('reason' in email) return { ok: false, reason: email.reason };
  const { address, denied } = email;
  if (domainOf(address) !== connection.emailDomain)
    return { ok: false, reason: 'email_domain_differs' };
  if (denied && !connection.ignoreEmailVerified) return { ok: false, reason: 'email_not_verified' };
  return { ok: true, email: address, name: name ?? address.slice(0, address.indexOf('@')) };
}

function emailIn(
  { email, email_verified: verified }: Record<string, unknown>,
  isAnsweredFor: (domain: string) => boolean,
): Said['email'] {
  if (typeof email !== 'string' || email === '') return { reason: 'email_missing' };
  const address = canonicalEmail(email);
  if (address === null) return { reason: 'email_malformed' };
  return { address, denied: isDenied(verified) || !isAnsweredFor(domainOf(address)) };
}

/**
 * An absent claim is accepted: the organization has verified the domain, and Entra never sends the
 * claim.
 */
function isDenied(claim: unknown): boolean {
  return claim !== undefined && claim !== null && claim !== true && claim !== 'true';
}

function nameIn({
  name,
  given_name: given,
  family_name: family,
}: Record<string, unknown>): string | null {
  const parts = [given, family].filter((part) => typeof part === 'string').join(' ');
  for (const text of [name, parts]) {
    const parsed = nameField.safeParse(text);
    if (parsed.success) return parsed.data;
  }
  return null;
}
