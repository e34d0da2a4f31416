import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { createTransport } from 'nodemailer';
import { Refusal } from '../errors.ts';
import type { MailReason } from '../reasons.ts';
import { isLoopback } from '../text/address.ts';
import type { Limits } from './limits.ts';
import type { MailMessage } from './outbound.ts';

/** The mail server and the sender. The operator sets both, so they are trusted (security S9). */
export interface MailServer {
  /**
   * `smtps://`, or `smtp://`, which needs STARTTLS except on loopback. Contains the user and the
   * password if the server requires them.
   */
  url: string;
  /** For example `Acme <id@acme.com>`, or name and address separately. */
  from: string | { name: string; address: string };
  roots: SecureContext | undefined;
}

/**
 * Sends one message through the server and returns the server's answer. Refuses with
 * `upstream_failed`, and says how the server failed.
 */
export async function sendMail(
  server: MailServer,
  message: MailMessage,
  limits: Limits,
  stop?: AbortSignal,
): Promise<string> {
  const work = async (transport: Transport) => {
    const { response } = await transport.sendMail({
      ...message,
      from: server.from,
      // RFC 3834 §5: suppresses automatic replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return response;
  };
  return visit(server, limits, work, stop);
}

/** Connects and authenticates like `sendMail`, but does not send a message. Same refusals. */
export async function greetMailServer(server: MailServer, limits: Limits): Promise<void> {
  await visit(server, limits, async (transport) => {
    await transport.verify();
  });
}

type Transport = ReturnType<typeof transportOver>;

/** Opens one connection for the work, and closes it after the work or the time limit. */
async function visit<Result>(
  server: MailServer,
  limits: Limits,
  work: (transport: Transport) => Promise<Result>,
  stop?: AbortSignal,
): Promise<Result> {
  const { host, port, secure } = addressOf(server.url);
  const over = AbortSignal.timeout(limits.total);
  const signal = AbortSignal.any(stop === undefined ? [over] : [over, stop]);
  const socket = connect({ host, port, signal });
  // The waiting code below handles errors. Without this listener, an error between two waits would
  // be unhandled.
  socket.on('error', () => undefined);
  try {
    await connected(socket, limits.connect);
    return await work(transportOver(socket, server, { host, secure }));
  } catch (cause) {
    throw failure(`${host}:${port}`, over.aborted ? timedOut : cause);
  } finally {
    socket.destroy();
  }
}

const timedOut = Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' });

async function connected(socket: Socket, within: number): Promise<void> {
  const timer = setTimeout(() => socket.destroy(timedOut), within);
  try {
    await once(socket, 'connect');
  } finally {
    clearTimeout(timer);
  }
}

/** The host and port of the URL. The default port is 465 for `smtps` and 587 for `smtp`. */
function addressOf(url: string): { host: string; port: number; secure: boolean } {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? (secure ? 465 : 587) : Number(port), secure };
}

function transportOver(
  connection: Socket,
  { url, roots }: MailServer,
  { host, secure }: { host: string; secure: boolean },
) {
  const { username, password } = new URL(url);
  const user = decodeURIComponent(username);
  return createTransport({
    connection,
    host,
    secure,
    // Only a connection to this machine may be unencrypted (`mail.smtpUrl`).
    requireTLS: !isLoopback(host),
    tls: { minVersion: 'TLSv1.2', ...(roots === undefined ? {} : { secureContext: roots }) },
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(password) } }),
  });
}

/** The meaning of Node's and nodemailer's error codes, and the fix. The first match wins. */
const reasons: [RegExp, MailReason, string][] = [
  [/^(ENOTFOUND|EAI_|EDNS)/, 'its name cannot be resolved', 'Correct the host in mail.smtpUrl.'],
  [
    /^ECONNREFUSED/,
    'it refused the connection',
    'Start the mail server, or correct host and port in mail.smtpUrl.',
  ],
  [
    /^ETIMEDOUT/,
    'it did not answer in time',
    'Correct host and port in mail.smtpUrl, or allow this machine to reach the server.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME/,
    'its certificate is for another name',
    'Use the host name of the certificate in mail.smtpUrl.',
  ],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)/,
    'its certificate is not valid now',
    'Renew the certificate of the mail server.',
  ],
  [
    /^(CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/,
    'its certificate is not trusted',
    'Set mail.caFile to the certificate authority of the mail server.',
  ],
  [
    /^(ETLS|ERR_TLS|ERR_SSL)/,
    'the encrypted connection could not be made',
    'Correct mail.smtpUrl: smtps:// for TLS from the start (port 465), smtp:// for STARTTLS.',
  ],
  [
    /^EAUTH/,
    'it did not accept the user name and password',
    'Correct the user and the password in mail.smtpUrl.',
  ],
  [
    /^ENOAUTH/,
    'it requires a user name and password',
    'Put the user and the password into mail.smtpUrl.',
  ],
  [
    /^EENVELOPE/,
    'it did not accept the sender or the recipient',
    'Correct mail.from, or the address of the recipient.',
  ],
  [/^EMESSAGE/, 'it did not accept the message', 'Check the log of the mail server.'],
];
const broke = [
  'the connection broke',
  'Check mail.smtpUrl, and the log of the mail server.',
] as const;

/** The refusal, with a reason from a fixed list. The server's own words go only to the log. */
function failure(where: string, cause: unknown): Refusal {
  const { code, responseCode, answer } = factsOf(cause);
  const [, reason, hint] = reasons.find(([pattern]) => pattern.test(code)) ?? [null, ...broke];
  // RFC 5321 §4.2.1: after 5xx the same message will be refused again.
  const final = /^(EENVELOPE|EMESSAGE)/.test(code) && responseCode >= 500;
  return new Refusal('upstream_failed', `The mail server ${where} could not be used: ${reason}.`, {
    hint: { technical: hint },
    failure: { reason, final, answer },
    extra: { reason, final },
    cause,
  });
}

function factsOf(error: unknown): { code: string; responseCode: number; answer: string | null } {
  // Errors of nodemailer and Node have some of these fields; other errors do not.
  const thrown = Object(error) as {
    code?: unknown;
    originalCode?: unknown;
    responseCode?: unknown;
    response?: unknown;
  };
  const { code, originalCode = code, responseCode, response } = thrown;
  return {
    code: String(code === 'ESOCKET' ? originalCode : code),
    responseCode: typeof responseCode === 'number' ? responseCode : 0,
    answer: typeof response === 'string' ? response : null,
  };
}
