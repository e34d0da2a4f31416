import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Figure, figure, median, table } from './figures.ts';
import { fillGroups, type Grouped } from './scim-groups-fill.ts';

// `npm run bench:scim-groups -- [--on SQLite|PostgreSQL] [--rounds N]` measures a PATCH of one
// member in a group of 10,000 against one in a group of 10, and the event-loop delay during a push
// that changes the roles of 1,000 people.

const { values } = parseArgs({
  options: { on: { type: 'string' }, rounds: { type: 'string', default: '100' } },
});
const rounds = Number(values.rounds);

async function bench(name: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const server = name === 'SQLite' ? null : await startPostgres();
  const database = server?.url ?? `sqlite:${join(folder, 'idctl.db')}`;
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const site = await fillGroups(database, keyFile, 10_000);
  const daemon = await startDaemon({
    database,
    keyFile,
    env: { IDCTL_LIMITS_ENABLED: 'off' },
    preload: new URL('./event-loop.ts', import.meta.url).href,
  });
  try {
    const figures = [...(await patches(daemon.url, site)), ...(await push(daemon, site))];
    process.stdout.write(table(`SCIM groups, ${name}`, figures));
  } finally {
    await daemon.stop();
    await site.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Send = (method: string, path: string, body?: object) => Promise<Response>;

const senderTo =
  (url: string, { base, token }: Grouped): Send =>
  (method, path, body) =>
    fetch(url + base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

/** Adds and removes one person, in both groups in turn. */
async function patches(url: string, site: Grouped): Promise<Figure[]> {
  const send = senderTo(url, site);
  const took = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const size of ['small', 'large'] as const) {
      for (const op of ['add', 'remove']) {
        const Operations = [{ op, path: 'members', value: [{ value: site.newcomer }] }];
        const began = performance.now();
        const { status } = await send('PATCH', `/Groups/${site[size]}`, { Operations });
        took[size].push(performance.now() - began);
        if (status !== 204) throw new Error(`PATCH answered ${status}`);
      }
    }
  }
  const [small, large] = [median(took.small), median(took.large)];
  return [
    figure('PATCH of one member, group of 10', small, 'ms'),
    figure('PATCH of one member, group of 10,000', large, 'ms'),
    figure('  against the group of 10', large / small, '×', { most: 1.5 }),
  ];
}

/**
 * Gives 1,000 people a role with one push, while other requests read. Returns when all have the
 * role.
 */
async function push(daemon: Daemon, site: Grouped): Promise<Figure[]> {
  const send = senderTo(daemon.url, site);
  daemon.tell('reset');
  const began = performance.now();
  const members = site.people.slice(0, 1000).map((value) => ({ value }));
  const pushed = await send('PUT', `/Groups/${site.mapped}`, { displayName: 'mapped', members });
  if (pushed.status !== 200) throw new Error(`PUT answered ${pushed.status}`);
  await pushed.arrayBuffer();
  const answered = performance.now() - began;
  while ((await site.planned()) < 1000) await (await send('GET', '/Users?count=1')).arrayBuffer();
  const took = performance.now() - began;
  return [
    figure('push of 1,000 people, answered', answered, 'ms'),
    figure('push of 1,000 people, all planned', took, 'ms', { most: 5000 }),
    figure('  event loop, 99th percentile', Number(await daemon.ask('report')), 'ms', { most: 15 }),
  ];
}

if (values.on !== 'PostgreSQL') await bench('SQLite');
if (values.on !== 'SQLite') await bench('PostgreSQL');
