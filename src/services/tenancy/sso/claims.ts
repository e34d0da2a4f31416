import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import type { Proof } from '../../../outbound/outbound.ts';
import type { Reason } from '../../../reasons.ts';
import { canonicalEmail, domainOf } from '../../foundation/domain-names/canonical.ts';
import { name as nameField } from '../../foundation/fields.ts';
import { type Groups, readGroups } from './groups.ts';

/** The claims that idctl uses. No others are stored while a sign-in waits for the second factor. */
export interface Said {
  issuer: string;
  /** Null if the provider does not send a subject. */
  subject: string | null;
  /** The canonical address, `denied` if the provider does not guarantee it; or why it is absent. */
  email:
    | { address: string; denied: boolean }
    | { reason: 'email_missing' | 'email_malformed' | 'email_several' };
  name: string | null;
  /** An absent claim is unknown here; the connection decides later what it means. */
  groups: Groups;
}

/** Reads the provider's claims (spec §4.1 steps 4 and 6): the address comes from userinfo. */
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
 * Whether `email_verified` denies the address. An absent claim does not: Entra never sends it, and
 * the domain is verified.
 */
function isDenied(claim: unknown): boolean {
  return claim !== undefined && claim !== null && claim !== true && claim !== 'true';
}

/** The first of these texts that can be a name. */
export function firstName(texts: unknown[]): string | null {
  for (const text of texts) {
    const parsed = nameField.safeParse(text);
    if (parsed.success) return parsed.data;
  }
  return null;
}

function nameIn({
  name,
  given_name: given,
  family_name: family,
}: Record<string, unknown>): string | null {
  const parts = [given, family].filter((part) => typeof part === 'string').join(' ');
  return firstName([name, parts]);
}

/** The address and name, or the fault. The address must be on the exact domain (security D7). */
export function personOn(
  { emailDomain, ignoreEmailVerified }: SsoConnection,
  { email, name }: Said,
): { ok: true; email: string; name: string } | { ok: false; reason: Reason } {
  if (emailDomain === null) return { ok: false, reason: 'domain_not_verified' };
  if ('reason' in email) return { ok: false, reason: email.reason };
  const { address, denied } = email;
  if (domainOf(address) !== emailDomain) return { ok: false, reason: 'email_domain_differs' };
  if (denied && !ignoreEmailVerified) return { ok: false, reason: 'email_not_verified' };
  return { ok: true, email: address, name: name ?? address.slice(0, address.indexOf('@')) };
}

/**
 * Whether the provider guarantees an address that it says it has verified. Google guarantees only
 * its own mail addresses, and addresses of accounts that an organization manages there. Google
 * verified any other address only once, and the address may belong to another person by now
 * (decision 0009). Other providers are trusted.
 */
export function answersFor(
  { issuer, managedBy }: Pick<Proof, 'issuer' | 'managedBy'>,
  domain: string,
): boolean {
  return issuer !== googleIssuer || managedBy !== null || googleMail.includes(domain);
}

const googleIssuer = 'https://accounts.google.com';
const googleMail = ['gmail.com', 'googlemail.com'];
