import type { PeerCertificate } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { isSeen } from '../../unseen.ts';

/** Whose certificate this is and who issued it. Only the names in it come from outside, and none that hides something (security X9). */
export function describeCertificate({ subject, issuer }: Partial<PeerCertificate>): string {
  const itself = isDeepStrictEqual({ ...subject }, { ...issuer });
  return `that of ${called(subject)}, issued by ${itself ? 'itself' : called(issuer)}`;
}

/** X.520 allows 64 characters; a certificate can have any number. */
const longest = 100;

function called(name: PeerCertificate['subject'] | undefined): string {
  // A name can have several values of one kind: the first counts.
  const [value] = [name?.CN, name?.O, name?.OU].flat().filter((one) => typeof one === 'string' && one !== '');
  if (value === undefined) return 'an unnamed subject';
  if (!isSeen(value)) return 'a name with hidden characters';
  return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
}
