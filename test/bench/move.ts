import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { addCrowd } from '../support/crowd.ts';
import { main, surroundings } from '../support/daemon.ts';
import { startPostgres } from '../support/postgres.ts';

// Measures the duration and the peak memory of `idctl database move`: node test/bench/move.ts
// [ACCOUNTS]

const size = Number(process.argv[2] ?? 100_000);
const folder = await mkdtemp(join(tmpdir(), 'idctl-move-'));
const server = await startPostgres();
const keyFile = join(folder, 'master.key');
const file = (name: string) => `sqlite:${join(folder, name)}`;
try {
  await createKeyFile(keyFile);
  await populate(file('first.db'));
  await tell('SQLite to PostgreSQL', file('first.db'), server.url);
  await tell('PostgreSQL to SQLite', server.url, file('second.db'));
  await tell('SQLite to SQLite', file('second.db'), file('third.db'));
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function populate(url: string): Promise<void> {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const database = { ...settings.database, url };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const { id } = await createOrganization(operator, { name: 'Acme' });
  await app.close();
  await addCrowd(url, id, size);
}

async function tell(what: string, from: string, to: string): Promise<void> {
  process.stdout.write(`${what} ${JSON.stringify(await measure(from, to))}\n`);
}

async function measure(from: string, to: string) {
  const env = { ...surroundings(), IDCTL_DATABASE: from, IDCTL_KEY_FILE: keyFile };
  const toFile = join(folder, 'to');
  await writeFile(toFile, `${to}\n`);
  const began = performance.now();
  const words = ['database', 'move', '--to-file', toFile, '--json'];
  const child = spawn(process.execPath, [main, ...words], { env });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  let peak = 0;
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }, 100);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  const [out, err] = await outputs;
  if (code !== 0) throw new Error(`the move ended with ${code}: ${err}`);
  const { rows } = JSON.parse(out);
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1));
  return { rows, seconds, peakMebibytes: Math.round(peak / 1024) };
}
