import { generateSecret, generateURI, verifySync } from 'otplib';

// RFC 6238 with SHA-1, six digits and 30 seconds, which every authenticator app supports.

const period = 30;

/** Generates a secret of 160 bits, in Base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: 20 });
}

/** The `otpauth://` URI for authenticator apps. A colon in the issuer becomes a space. */
export function totpUri(enrolment: { secret: string; issuer: string; account: string }): string {
  const { secret, issuer, account } = enrolment;
  return generateURI({ issuer: issuer.replaceAll(':', ' '), label: account, secret });
}

/**
 * The time step of a code that is valid now, or one period earlier or later (spec §5.3). Null for a
 * wrong code.
 */
export function matchTotp(secret: string, code: string, now: Date): number | null {
  if (!/^[0-9]{6}$/.test(code)) return null;
  const epoch = Math.floor(now.getTime() / 1000);
  const result = verifySync({ secret, token: code, epoch, epochTolerance: period });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}
