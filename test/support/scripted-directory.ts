import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { BerReader, BerWriter } from 'ldapts';
import { portOf } from './ports.ts';

/** A client's request. */
export interface Request {
  id: number;
  kind: 'bind' | 'search' | 'extended';
  /** The DN and password of a bind; empty for other requests. */
  dn: string;
  password: string;
  /** The number of the connection, counted from 1. */
  connection: number;
  socket: Socket;
}

/** A scripted LDAP server without TLS, which is allowed on loopback. */
export interface ScriptedDirectory {
  uri: string;
  /** Every request, in order, except unbinds and bytes that are not LDAP. */
  requests: Request[];
  /** The number of bytes received. */
  received(): number;
  stop(): Promise<void>;
}

/** Returns the bytes to send for a request, or nothing. */
export type Script = (request: Request) => Buffer | undefined;

const kinds: Record<number, Request['kind']> = { 96: 'bind', 99: 'search', 119: 'extended' };

/** Starts a scripted server; `greet` is called with each new connection. */
export async function startScriptedDirectory(
  script: Script,
  greet: (socket: Socket) => void = () => undefined,
  host = '127.0.0.1',
  port = 0,
): Promise<ScriptedDirectory> {
  const requests: Request[] = [];
  const sockets = new Set<Socket>();
  let received = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      received += chunk.length;
      const asked = requestIn(chunk);
      if (asked === null) return;
      const request = { ...asked, connection, socket };
      requests.push(request);
      const answer = script(request);
      if (answer !== undefined) socket.write(answer);
    });
    greet(socket);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    uri: `ldap://${host}:${portOf(server)}`,
    requests,
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Parses a request; null for an unbind and for bytes that are not LDAP. */
function requestIn(bytes: Buffer): Pick<Request, 'id' | 'kind' | 'dn' | 'password'> | null {
  if (bytes[0] !== 0x30) return null;
  const reader = new BerReader(bytes);
  reader.readSequence();
  const id = reader.readInt() ?? 0;
  const kind = kinds[reader.readSequence() ?? 0];
  if (kind === undefined) return null;
  if (kind !== 'bind') return { id, kind, dn: '', password: '' };
  reader.readInt();
  return { id, kind, dn: reader.readString() ?? '', password: reader.readString(0x80) ?? '' };
}

const results = { bind: 0x61, search: 0x65, extended: 0x78 };

/** A message with the result of a request. */
export function result({ id, kind }: Pick<Request, 'id' | 'kind'>, code = 0, said = ''): Buffer {
  return message(id, results[kind], (writer) => {
    writer.writeEnumeration(code);
    writer.writeString('');
    writer.writeString(said);
  });
}

/** A message with an entry that a search found. */
export function entry(
  { id }: Pick<Request, 'id'>,
  dn: string | Buffer,
  attributes: Record<string, (string | Buffer)[]>,
): Buffer {
  return message(id, 0x64, (writer) => {
    writer.writeBuffer(Buffer.from(dn), 0x04);
    writer.startSequence();
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence();
      writer.writeString(name);
      writer.startSequence(0x31);
      for (const value of values) writer.writeBuffer(Buffer.from(value), 0x04);
      writer.endSequence();
      writer.endSequence();
    }
    writer.endSequence();
  });
}

/** A message with a search reference to other servers. */
export function reference({ id }: Pick<Request, 'id'>, ...uris: string[]): Buffer {
  return message(id, 0x73, (writer) => {
    for (const uri of uris) writer.writeString(uri);
  });
}

function message(id: number, tag: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  writer.startSequence(tag);
  write(writer);
  writer.endSequence();
  writer.endSequence();
  return Buffer.from(writer.buffer);
}
