import type { Session } from '../../../database/models/session.ts';
import type { LiveSession } from './live-session.sql.ts';

/**
 * How each method proves the person's identity (RFC 8176, except `fed`: a sign-in at another
 * provider).
 */
const proofs: Record<Session['method'], string> = {
  password: 'pwd',
  ldap: 'pwd',
  magicCode: 'otp',
  verification: 'otp',
  loginLink: 'otp',
  sso: 'fed',
  google: 'fed',
  github: 'fed',
  passkey: 'hwk',
};

/** The `acr` of a session with one factor and of one with two. */
export const acrValues = ['urn:idctl:1', 'urn:idctl:2'] as const;

/**
 * The `acr` and `amr` of a session. A provider's second factor does not count (security P12). If
 * the account has a passkey, `amr` says that there was a second factor, but not which one.
 */
export function strengthOf({ method, secondFactor, hasPasskey }: LiveSession) {
  const [one, two] = acrValues;
  const first = proofs[method];
  if (!secondFactor) return { acr: one, amr: [first] };
  return { acr: two, amr: [...new Set([first, ...(hasPasskey ? [] : ['otp']), 'mfa'])] };
}
