import { spawn } from 'node:child_process';
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

/** Starts an application that answers with the URL and the headers of each request. */
export async function startEcho() {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
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
