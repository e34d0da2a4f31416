import { isIP } from 'node:net';
import { Refusal } from '../../errors.ts';
import { type Finding, right, wrong } from '../../finding.ts';
import { canonicalHost } from '../../text/address.ts';
import { failureOf } from '../failure.ts';
import { type Guard, wayOf } from '../guard.ts';
import { unanswered } from './finding.ts';

/** Whether the issuer's host has addresses, and idctl may connect to all of them (security S9). */
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

/** Whether the host has a trusted, valid certificate for its name, or may use plain http. */
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
      soon ? 'Renew the certificate before then.' : undefined,
    );
  } catch (error) {
    return unanswered(error, host);
  }
}

/**
 * Whether the URL's host can be resolved. If `isOurs`, idctl itself connects to the URL, so its TLS
 * must be right too. Otherwise only browsers connect, and a failed connection only adds a hint.
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
    return isFound && !isOurs ? right(`${host} can be resolved`, unreached(finding)) : finding;
  }
  const tls = await examineTls(guard, handshake, url, now);
  if (tls.ok) return right(`${host} answers: ${tls.seen}`, tls.hint);
  if (isOurs) return wrong(tls.seen, 'Make the application answer at this URL, over trusted TLS.');
  return right(`${host} can be resolved`, unreached(tls));
}

function unreached({ seen }: Finding): string {
  return `idctl could not connect to it: ${seen}. Browsers may be able to.`;
}

/** Whether the system's resolver caused the error. */
export function isLookupError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo';
}
