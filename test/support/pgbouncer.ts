import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectWhenListening, freePorts } from './ports.ts';
import { unprivileged } from './postgres.ts';

/** A real PgBouncer in front of the PostgreSQL of a database. */
export interface PgBouncer {
  /** The URL of the same database, through PgBouncer. */
  url: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer with this pool mode and further settings, and waits until it listens. */
export async function startPgBouncer(
  database: string,
  mode: 'session' | 'transaction',
  settings: string[] = [],
): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-pgbouncer-'));
  await chmod(folder, 0o755);
  const { hostname, port, username, password } = new URL(database);
  const [own = 0] = await freePorts(1);
  const config = [
    '[databases]',
    `* = host=${hostname} port=${port} user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    ...settings,
  ];
  await writeFile(join(folder, 'pgbouncer.ini'), config.join('\n'), { mode: 0o644 });
  const child = spawn('/usr/sbin/pgbouncer', ['-q', join(folder, 'pgbouncer.ini')], {
    ...unprivileged(),
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  (await connectWhenListening(own)).destroy();
  const url = new URL(database);
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
