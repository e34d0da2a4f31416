import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  connect as connectTls,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../../errors.ts';
import type { DirectoryFailure, DirectoryStage } from '../../reasons.ts';
import { canonicalHost, kindOf } from '../../text/address.ts';
import { isSeen } from '../../text/unseen.ts';
import { causes } from '../failure.ts';
import type { Guard } from '../guard.ts';
import type { Limits } from '../limits.ts';
import type { DirectoryServer } from './directory.ts';
import { directoryFailed, notConnected } from './failure.ts';
import { messageReader } from './message.ts';
import { startTls } from './start-tls.ts';

/** The settings and services that a connection to a directory needs. */
export interface WireSurroundings {
  guard: Guard;
  /** The trusted certificates of the instance. */
  roots: SecureContext | undefined;
  limits: Limits;
  /** Whether passwords may be sent without TLS (`ldap.allowPlaintext`). */
  plaintext: boolean;
  /** Throws if a transaction is open. Called before each operation. */
  assertIdle: (what: string) => void;
}

/** A connection to a directory. It passes on only valid messages. */
export interface Wire {
  host: string;
  /** The connection as a socket for ldapts. */
  socket: Socket;
  /** The time when the directory's certificate expires; null without TLS. */
  validUntil: Date | null;
  /** The reason why the connection ended, unless idctl closed it. */
  failure: DirectoryFailure | null;
  /** Whether a result said that more entries exist than were requested. */
  cutShort: boolean;
  /** Ends the connection for this reason, unless it has already ended. */
  fail(reason: DirectoryFailure): void;
  close(): void;
}

/**
 * Connects within the limits, to an address that the guard allows (security L5, S9). TLS needs
 * version 1.2 or later and a trusted certificate for this host. Without TLS, only loopback is
 * allowed, unless `ldap.allowPlaintext` is on. Refuses with `upstream_failed` or
 * `outbound_refused`.
 */
export async function openWire(
  server: DirectoryServer,
  around: WireSurroundings,
  deadline: AbortSignal,
): Promise<Wire> {
  const { host, port, secure } = addressIn(server.uri);
  const signal = AbortSignal.any([deadline, AbortSignal.timeout(around.limits.connect)]);
  let socket: Socket | undefined;
  let at: DirectoryStage = 'connection';
  let certificate: string | null = null;
  try {
    // `net` does not look up IP literals, so check them here.
    const way = { port, encrypted: true };
    if (isIP(host) !== 0) await around.guard.resolve(host, way);
    socket = connectTcp({ host, port, lookup: around.guard.checkedLookup(way) });
    // Ignores later errors of a socket that is no longer used.
    socket.on('error', () => undefined);
    await once(socket, 'connect', { signal });
    at = 'TLS';
    if (!server.tls && !around.plaintext) requireLocal(host, socket);
    if (!server.tls) return wireOn(socket, host, null, around.limits, deadline);
    const obstacle = secure ? null : await beforeEnd(startTls(socket), signal);
    if (obstacle !== null) throw directoryFailed(host, 'TLS', obstacle);
    const encrypted = encrypt(socket, host, server, around);
    socket = encrypted.on('error', () => undefined);
    // Node discards a certificate that it refuses, so read it before the check.
    encrypted.prependOnceListener('secure', () => {
      certificate = describeCertificate(encrypted.getPeerCertificate());
    });
    await once(encrypted, 'secureConnect', { signal });
    const until = new Date(encrypted.getPeerCertificate().valid_to);
    return wireOn(encrypted, host, until, around.limits, deadline);
  } catch (error) {
    socket?.destroy();
    throw (
      causes(error).find((one) => one instanceof Refusal) ??
      notConnected(host, at, error, certificate)
    );
  }
}

/** The host and port in a URI such as `ldaps://ldap.example.com`. */
function addressIn(uri: string): { host: string; port: number; secure: boolean } {
  const { protocol, hostname, port } = new URL(uri);
  const secure = protocol === 'ldaps:';
  return { host: canonicalHost(hostname), port: Number(port) || (secure ? 636 : 389), secure };
}

function requireLocal(host: string, { remoteAddress = '' }: Socket): void {
  if (kindOf(remoteAddress) === 'loopback') return;
  throw new Refusal('outbound_refused', `${host} would receive passwords without TLS`, {
    hint: {
      technical:
        'Use ldaps:// or StartTLS. Or the operator can set ldap.allowPlaintext: on in idctl.yaml.',
    },
    failure: { reason: 'plaintext' },
    extra: { reason: 'plaintext' },
  });
}

function encrypt(
  socket: Socket,
  host: string,
  server: DirectoryServer,
  { roots }: WireSurroundings,
): TLSSocket {
  const secureContext =
    server.caCertificate === null
      ? roots
      : createSecureContext({ ca: server.caCertificate, minVersion: 'TLSv1.2' });
  return connectTls({
    socket,
    host,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(secureContext === undefined ? {} : { secureContext }),
  });
}

async function beforeEnd<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, ended]);
}

function wireOn(
  socket: Socket,
  host: string,
  validUntil: Date | null,
  limits: Limits,
  deadline: AbortSignal,
): Wire {
  const duplex = new Duplex({
    // Each chunk is one message.
    readableObjectMode: true,
    // The total size is limited, so backpressure is not needed.
    read: () => undefined,
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    destroy: (error, done) => {
      deadline.removeEventListener('abort', late);
      if (wire.failure === null) leave(socket);
      else socket.destroy();
      done(error);
    },
  });
  duplex.on('error', () => undefined);
  const fail = (reason: DirectoryFailure) => {
    if (duplex.destroyed) return;
    wire.failure = reason;
    duplex.destroy();
  };
  const late = () => fail('timeout');
  // ldapts first checks these two properties. A Duplex has all others that ldapts uses.
  const asSocket = Object.assign(duplex, {
    connecting: false,
    readyState: 'open',
  }) as unknown as Socket;
  const wire: Wire = {
    host,
    socket: asSocket,
    validUntil,
    failure: null,
    cutShort: false,
    fail,
    close: () => duplex.destroy(),
  };
  const read = messageReader(
    limits.body,
    ({ bytes, result }) => {
      if (result?.code === 4) wire.cutShort = true;
      duplex.push(bytes);
    },
    fail,
  );
  deadline.addEventListener('abort', late, { once: true });
  socket.on('data', read).on('close', () => fail('closed'));
  return wire;
}

const unbind = Buffer.from([0x30, 0x05, 0x02, 0x01, 0x7f, 0x42, 0x00]);

/** Sends an unbind (RFC 4511 §4.3), so that the directory does not log a lost connection. */
function leave(socket: Socket): void {
  socket.write(unbind);
  socket.destroySoon();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** The subject and issuer of a certificate, without invisible characters (security X9). */
function describeCertificate({ subject, issuer }: Partial<PeerCertificate>): string {
  const itself = isDeepStrictEqual({ ...subject }, { ...issuer });
  return `that of ${called(subject)}, issued by ${itself ? 'itself' : called(issuer)}`;
}

/**
 * The maximum number of characters to show of a name. X.520 allows 64, but a certificate may
 * contain more.
 */
const longest = 100;

function called(name: PeerCertificate['subject'] | undefined): string {
  // A name can have several values of one type. Use the first.
  const [value] = [name?.CN, name?.O, name?.OU]
    .flat()
    .filter((one) => typeof one === 'string' && one !== '');
  if (value === undefined) return 'an unnamed subject';
  if (!isSeen(value)) return 'a name with hidden characters';
  return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
}
