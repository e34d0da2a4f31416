import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** A real nginx. */
export interface Nginx {
  stop(): Promise<void>;
}

/** Starts nginx with these blocks of its `http` section; ready when it listens on the port. */
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
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await said}`);
    await pause(20);
  }
  return {
    async stop() {
      child.kill('SIGQUIT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
