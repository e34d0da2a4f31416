import { isIP } from 'node:net';
import { canonicalHost } from '../../address.ts';
import { Refusal } from '../../errors.ts';
import { type Finding, right, wrong } from '../../finding.ts';
import { failureOf } from '../failure.ts';
import { type Guard, wayOf } from '../guard.ts';
import { unanswered } from './finding.ts';

/** Whether the issuer's host has addresses, and all of them may be reached (security S9). */
export async function examineName(guard: Guard, issuer: URL): Promise<Finding> {
  const host = canonicalHost(issuer.hostname);
  try {
    const addresses = await guard.resolve(host, { ...wayOf(issuer), encrypted: true });
    if (isIP(host) !== 0) return right(`${host} is an address`);
    return right(
      `${host} has ${addresses.length === 1 ? 'one address' : `${addresses.length} addresses`}`,
    );
  } catch (error) {
    if (isLookupError(error)) {
      return wrong(
        `${host} cannot be resolved`,
        'Check the spelling, and that this machine can resolve the name.',
      );
    }
    return unanswered(error, host);
  }
}

/** Whether the host answers over TLS with a trusted, valid certificate of its own. */
export async function examineTls(
  guard: Guard,
  handshake: (url: URL) => Promise<Date>,
  issuer: URL,
  now: Date,
): Promise<Finding> {
  const host = canonicalHost(issuer.hostname);
  try {
    if (issuer.protocol === 'http:') {
      await guard.resolve(host, wayOf(issuer));
      return right('plain http, which outbound.allow permits for this host');
    }
    const until = await handshake(issuer);
    const soon = until.getTime() - now.getTime() < 14 * 24 * 3600 * 1000;
    return right(
      `a trusted certificate for ${host}, valid until ${until.toISOString().slice(0, 10)}`,
      soon ? 'Have it renewed before then.' : undefined,
    );
  } catch (error) {
    return unanswered(error, host);
  }
}

/**
 * Whether the host can be found. A browser goes there: that idctl may not is a note. If `isOurs`,
 * idctl goes there itself, and everything must be right.
 */
export async function examineAddress(
  guard: Guard,
  handshake: (url: URL) => Promise<Date>,
  { url, now, isOurs }: { url: URL; now: Date; isOurs: boolean },
): Promise<Finding> {
  const host = canonicalHost(url.hostname);
  try {
    await guard.resolve(host, wayOf(url));
  } catch (error) {
    const failure = failureOf(error, host);
    const isFound = failure instanceof Refusal && failure.code === 'outbound_refused';
    const finding = unanswered(failure, host);
    return isFound && !isOurs ? right(`${host} can be found`, unreached(finding)) : finding;
  }
  const tls = await examineTls(guard, handshake, url, now);
  if (tls.ok) return right(`${host} answers: ${tls.seen}`, tls.hint);
  if (isOurs) return wrong(tls.seen, 'Have the application answer there, over trusted TLS.');
  return right(`${host} can be found`, unreached(tls));
}

function unreached({ seen }: Finding): string {
  return `idctl itself did not reach it: ${seen}. Browsers may.`;
}

/** Whether an error comes from a name lookup by the system's resolver. */
export function isLookupError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo';
}
