import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { blocksOf } from './operations.ts';

/** A real nginx. */
export interface Nginx {
  stop(): Promise<void>;
}

/** Starts nginx with these blocks in its `http` section, and waits until it listens on the port. */
export async function startNginx(blocks: string, port: number): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = [
    'daemon off;',
    `pid ${folder}/pid;`,
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `events {}`,
    `http { access_log off; error_log stderr; ${temporary.join(' ')}`,
    blocks,
    '}',
  ];
  await writeFile(join(folder, 'nginx.conf'), config.join('\n'));
  const child = spawn('/usr/sbin/nginx', ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said = text(child.stderr);
  await untilListening(port, async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await said}`);
  });
  return {
    async stop() {
      child.kill('SIGQUIT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The nginx configuration in docs/operations/proxy.md, with the test's own names and ports. */
export function documentedNginx(here: {
  tls: number;
  http: number;
  certFile: string;
  keyFile: string;
  daemons: { url: string }[];
}): string {
  const [config = ''] = blocksOf('nginx');
  const servers = here.daemons
    .map(({ url }) => `  server ${new URL(url).host} max_fails=0;\n`)
    .join('');
  const places: [string, string][] = [
    ['  server 127.0.0.1:8420 max_fails=0;\n', servers],
    ['listen 443 ', `listen 127.0.0.1:${here.tls} `],
    ['listen 80;', `listen 127.0.0.1:${here.http};`],
    ['/etc/ssl/id.example.com.pem', here.certFile],
    ['/etc/ssl/id.example.com.key', here.keyFile],
  ];
  return places.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`docs/operations/proxy.md lacks: ${from}`);
      return text.replace(from, to);
    },
    config.replaceAll('id.example.com;', 'localhost;'),
  );
}

/** Waits until a program listens on the port; `alive` throws if it has ended. */
export async function untilListening(port: number, alive: () => Promise<void>): Promise<void> {
  while (!(await listens(port))) {
    await alive();
    await pause(20);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
