import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { createAuthority } from './certificates.ts';
import { portOf } from './ports.ts';

/** A message that arrived. */
export interface Letter {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The message as received. */
  raw: string;
  /** Whether the connection was encrypted. */
  secure: boolean;
  /** The user name that the client signed in with, if any. */
  user: string | undefined;
}

/** A mail server on loopback that keeps the letters that it receives. */
export interface Smtp {
  /** The value for `mail.smtpUrl`. */
  url: string;
  /** The value for `mail.caFile`; empty without TLS. */
  caFile: string;
  /** The received letters, oldest first. */
  letters: Letter[];
  /** The number of connections so far. */
  connections(): number;
  /** Refuses each recipient with this code, such as 450 or 550; null accepts recipients again. */
  refuse(code: number | null): void;
  /** Waits for a letter to this address and returns it; skips the first `after` letters. */
  letterTo(address: string, after?: number): Promise<Letter>;
  /** Waits for a letter like `letterTo`, and returns its six-digit code. */
  codeTo(address: string, after?: number): Promise<string>;
  stop(): Promise<void>;
}

interface Options {
  /** `plain` accepts every client; `starttls` and `smtps` require `mailUser`. */
  kind?: 'plain' | 'starttls' | 'smtps';
  /** The address on which a `plain` server listens, if not on loopback. */
  host?: string;
}

export const mailUser = { name: 'idctl@mail.test', password: 'password of/the mail:server' };

/** Starts the mail server on a free port, with its certificates in a temporary folder. */
export async function startSmtp({
  kind = 'plain',
  host = '127.0.0.1',
}: Options = {}): Promise<Smtp> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-smtp-'));
  const letters: Letter[] = [];
  let connections = 0;
  let refusal: number | null = null;
  const authority = kind === 'plain' ? null : await createAuthority(folder);
  const leaf = await authority?.issue('DNS:localhost', 'IP:127.0.0.1');
  const server = new SMTPServer({
    ...(leaf ? { key: await readFile(leaf.keyFile), cert: await readFile(leaf.certFile) } : {}),
    secure: kind === 'smtps',
    disabledCommands: kind === 'plain' ? ['STARTTLS', 'AUTH'] : [],
    authOptional: kind === 'plain',
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === mailUser.name && password === mailUser.password)
        done(null, { user: username });
      else done(new Error('who are you?'));
    },
    onRcptTo(_address, _session, done) {
      if (refusal === null) done();
      else done(Object.assign(new Error('not today'), { responseCode: refusal }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { envelope, secure, user } = session;
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address).join();
        letters.push({
          ...read(Buffer.concat(chunks).toString('utf8')),
          from,
          to,
          secure,
          user: user && String(user),
        });
        done();
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, host);
  await once(server.server, 'listening');
  const { port } = Object(server.server.address());
  const letterTo = (address: string, after = 0) =>
    found(() => letters.filter(({ to }) => to === address)[after]);
  return {
    url: urlOf(kind, host, port),
    caFile: authority?.caFile ?? '',
    letters,
    connections: () => connections,
    refuse: (code) => {
      refusal = code;
    },
    letterTo,
    codeTo: async (address, after) =>
      /\b\d{6}\b/.exec((await letterTo(address, after)).text)?.[0] ?? '',
    async stop() {
      await new Promise<void>((closed) => server.close(closed));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a server that accepts connections but sends nothing, and counts the open connections. */
export async function startSilentSmtp() {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${portOf(server)}`,
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function urlOf(kind: Options['kind'], host: string, port: number): string {
  if (kind === 'plain') return `smtp://${host}:${port}`;
  const user = `${encodeURIComponent(mailUser.name)}:${encodeURIComponent(mailUser.password)}`;
  return `${kind === 'smtps' ? 'smtps' : 'smtp'}://${user}@localhost:${port}`;
}

async function found<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 1500; tries += 1) {
    const seen = look();
    if (seen !== undefined) return seen;
    await wait(20);
  }
  throw new Error('no such letter came within 30 seconds');
}

/** Parses the subject and both parts of a message as nodemailer writes them (RFC 2045). */
function read(raw: string): Pick<Letter, 'subject' | 'text' | 'html' | 'raw'> {
  const [head = ''] = raw.split('\r\n\r\n');
  const subject =
    /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(head)?.[1]?.replace(/\r\n[ \t]/g, ' ') ?? '';
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  const parts = boundary === undefined ? [raw] : raw.split(`--${boundary}`).slice(1, -1);
  const part = (type: string) =>
    decoded(parts.find((each) => each.includes(`Content-Type: ${type}`)) ?? '');
  return { subject, text: part('text/plain'), html: part('text/html'), raw };
}

function decoded(part: string): string {
  const [head = '', ...body] = part.split('\r\n\r\n');
  const text = body.join('\r\n\r\n').trimEnd();
  if (/base64/i.test(head)) return Buffer.from(text, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(head)) return text;
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
