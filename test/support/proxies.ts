import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { connectWhenListening, portOf } from './ports.ts';

// Proxies in front of an application: the files in config/, with the test's own names and ports.

/** The address of a proxy, and the servers behind it. */
export interface Proxied {
  /** The host of the proxy, a name below localhost. */
  host: string;
  port: number;
  /** Without these files, nginx uses plain http. Caddy needs them. */
  certFile?: string;
  keyFile?: string;
  idctl: string;
  application: string;
}

function configured(file: string, places: [string | RegExp, string][]): string {
  const given = readFileSync(resolve(import.meta.dirname, '../../config', file), 'utf8');
  return places.reduce((written, [from, to]) => {
    const changed = written.replaceAll(from, to);
    if (changed === written) throw new Error(`config/${file} lacks: ${from}`);
    return changed;
  }, given);
}

const hostOf = (url: string) => new URL(url).host;

/** The text of config/nginx-forward-auth.conf, for `startNginx`. */
export function nginxBlocks({ host, port, certFile, keyFile, ...to }: Proxied): string {
  const isPlain = certFile === undefined || keyFile === undefined;
  const tls: [string | RegExp, string][] = isPlain
    ? [
        [' ssl;', ';'],
        [/^ *ssl_certificate.*$/gm, ''],
      ]
    : [
        ['/etc/ssl/app.example.com.pem', certFile],
        ['/etc/ssl/app.example.com.key', keyFile],
      ];
  return configured('nginx-forward-auth.conf', [
    ['listen 443', `listen 127.0.0.1:${port}`],
    ['server_name app.example.com;', `server_name ${host};`],
    // On another port than 443, the host includes the port.
    ['$server_name;', `$server_name:${port};`],
    ...tls,
    ['127.0.0.1:8420', hostOf(to.idctl)],
    ['127.0.0.1:3000', hostOf(to.application)],
  ]);
}

/** Starts Caddy with config/Caddyfile.forward-auth, and waits until it listens. */
export async function startCaddy({ host, port, certFile, keyFile, ...to }: Proxied) {
  const site = configured('Caddyfile.forward-auth', [
    [/^app\.example\.com \{/gm, `https://${host}:${port} {\n\ttls ${certFile} ${keyFile}`],
    ['127.0.0.1:8420', hostOf(to.idctl)],
    ['127.0.0.1:3000', hostOf(to.application)],
  ]);
  return startCaddyWith(site, port);
}

/** Starts Caddy with these sites, and waits until it listens on the port. */
export async function startCaddyWith(sites: string, port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-caddy-'));
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${sites}`);
  const child = spawn('/usr/bin/caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said = text(child.stderr);
  const listening = connectWhenListening(port).then((socket) => void socket.destroy());
  await Promise.race([
    listening,
    ended.then(async () => {
      throw new Error(`caddy ended: ${await said}`);
    }),
  ]);
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts an application that answers with the URL and the headers of each request. On a WebSocket,
 * it first sends them, and then sends each message back.
 */
export async function startEcho() {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  });
  server.on('upgrade', (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const upgraded =
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade';
    socket.write(`${upgraded}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.write(textFrame(JSON.stringify(request.headers)));
    // A short frame of a client: the type, the length, a mask of four bytes, the masked text.
    socket.on('data', (frame: Buffer) => {
      const text = frame.subarray(6).map((byte, at) => byte ^ (frame[2 + (at % 4)] ?? 0));
      if (frame[0] === 0x81) socket.write(textFrame(Buffer.from(text).toString()));
      else socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A WebSocket frame of a server with this text (RFC 6455 §5.2). */
function textFrame(text: string): Buffer {
  const content = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  const size =
    content.length < 126
      ? Buffer.from([content.length])
      : Buffer.concat([Buffer.from([126]), length]);
  return Buffer.concat([Buffer.from([0x81]), size, content]);
}
