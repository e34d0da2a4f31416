import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { startDaemon } from '../support/daemon.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Figure, figure, median, table } from './figures.ts';
import { ask, type Load, load, type People, populate } from './scim-people.ts';

// `npm run bench:scim -- [--rounds N] [--sizes 1000,10000,100000] [--on SQLite|PostgreSQL]`
// measures writes against transactions of four writes through models (goal 4), and filters and
// pages against those of the smallest organization (goal 5). Each figure is the median of the
// rounds.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '1000,10000' },
    on: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const sizes = values.sizes.split(',').map(Number);
const ms = 1500;

async function bench(name: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const servers = name === 'SQLite' ? [] : [await startPostgres(), await startPostgres()];
  const place = (at: number) => servers[at]?.url ?? `sqlite:${join(folder, `${at}.db`)}`;
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const organizations = await populate(place(0), keyFile, sizes);
  const env = { IDCTL_LIMITS_ENABLED: 'off', IDCTL_LOG_LEVEL: 'info' };
  const daemon = await startDaemon({ database: place(0), keyFile, env });
  const limit = fork(fileURLToPath(new URL('./scim-limit.ts', import.meta.url)), [place(1)]);
  await once(limit, 'message');
  const limitRate = async () => {
    limit.send(ms);
    return Number((await once(limit, 'message'))[0]);
  };
  try {
    process.stdout.write(
      table(`SCIM writes, ${name}`, await writes(daemon.url, organizations, limitRate)),
    );
    process.stdout.write(table(`SCIM reads, ${name}`, await reads(daemon.url, organizations)));
  } finally {
    limit.disconnect();
    await daemon.stop();
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function writes(
  url: string,
  [people]: People[],
  limitRate: () => Promise<number>,
): Promise<Figure[]> {
  if (people === undefined) return [];
  const rates: Record<string, number[]> = {
    limit: [],
    create: [],
    patch: [],
    put: [],
    name: [],
    delete: [],
  };
  let serial = 0;
  const fresh = () => {
    serial += 1;
    return `new${serial}@elsewhere.test`;
  };
  for (let round = 0; round < rounds; round += 1) {
    const made: string[] = [];
    rates['limit']?.push(await limitRate());
    const creating: Load = {
      method: 'POST',
      path: () => '/Users',
      body: () => ({ userName: fresh(), ...profile }),
    };
    rates['create']?.push(
      await load(url, people, { ...creating, learn: ({ id }) => made.push(String(id)) }, ms),
    );
    // Each request changes something: first the whole User, then the name, then `active`.
    const turn = roundabout(made);
    const put = () => ({ ...profile, displayName: `Ada ${Math.random()}` });
    rates['put']?.push(await load(url, people, { method: 'PUT', path: turn, body: put }, ms));
    const rename = () => ({
      Operations: [{ op: 'replace', path: 'displayName', value: `Ada ${Math.random()}` }],
    });
    rates['name']?.push(await load(url, people, { method: 'PATCH', path: turn, body: rename }, ms));
    const inactive = new Set<string>();
    let path = '';
    const next = () => {
      path = turn();
      return path;
    };
    const off = () => {
      const active = inactive.delete(path);
      if (!active) inactive.add(path);
      return { Operations: [{ op: 'replace', path: 'active', value: active }] };
    };
    rates['patch']?.push(await load(url, people, { method: 'PATCH', path: next, body: off }, ms));
    const left = roundabout(made.filter((id) => !inactive.has(`/Users/${id}`)));
    rates['delete']?.push(await load(url, people, { method: 'DELETE', path: left }, ms / 6));
  }
  const rate = (what: string) => median(rates[what] ?? []);
  const share = (what: string, of: string) =>
    median((rates[what] ?? []).map((value, at) => (100 * value) / (rates[of]?.[at] ?? value)));
  return [
    figure('four-write transactions, models', rate('limit'), '/s'),
    figure('create', rate('create'), '/s'),
    figure('create, against that limit', share('create', 'limit'), '%', { least: 75 }),
    ...Object.entries({
      put: 'PUT of a name',
      name: 'PATCH of a name',
      patch: 'PATCH of active',
      delete: 'DELETE',
    }).map(([what, words]) =>
      figure(`${words}, against create`, share(what, 'create'), '%', { least: 120 }),
    ),
  ];
}

/** Returns the paths of these Users in turn, and starts again after the last. */
function roundabout(ids: string[]): () => string {
  let turn = 0;
  return () => `/Users/${ids[turn++ % ids.length]}`;
}

const profile = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  name: { givenName: 'Ada', familyName: 'Byron' },
  emails: [{ value: 'ada@elsewhere.test', type: 'work', primary: true }],
};

async function reads(url: string, organizations: People[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  const seen = organizations.map(() => ({
    filter: [] as number[],
    externalId: [] as number[],
    email: [] as number[],
    page: [] as number[],
    first: [] as number[],
    deep: [] as number[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, people] of organizations.entries()) {
      const anybody = () => Math.floor(Math.random() * people.count);
      const filters = {
        filter: () => `userName eq "${people.nameOf(anybody())}"`,
        externalId: () => `externalId eq "e${anybody()}"`,
        email: () => `emails.value eq "${people.nameOf(anybody())}"`,
      };
      for (const what of ['filter', 'externalId', 'email'] as const) {
        const path = () => `/Users?filter=${encodeURIComponent(filters[what]())}`;
        seen[at]?.[what].push(await load(url, people, { method: 'GET', path }, ms));
      }
      seen[at]?.first.push(
        await load(url, people, { method: 'GET', path: () => '/Users?count=100' }, ms, 1),
      );
      const deep = () =>
        `/Users?count=100&startIndex=${1 + Math.floor(people.count / 2 + Math.random() * (people.count / 2 - 100))}`;
      seen[at]?.deep.push(await load(url, people, { method: 'GET', path: deep }, ms, 1));
      seen[at]?.page.push(await crawl(url, people));
    }
  }
  const of = (at: number, what: 'filter' | 'externalId' | 'email' | 'page' | 'first' | 'deep') =>
    median(seen[at]?.[what] ?? []);
  for (const [at, { count }] of organizations.entries()) {
    const share = (what: 'externalId' | 'email') => (100 * of(at, what)) / of(at, 'filter');
    figures.push(
      figure(`filter userName eq, ${count} users`, of(at, 'filter'), '/s'),
      figure('  externalId eq, against it', share('externalId'), '%', { least: 80 }),
      figure('  emails.value eq, against it', share('email'), '%', { least: 80 }),
    );
    if (at > 0)
      figures.push(
        figure('  against the smallest', (100 * of(at, 'filter')) / of(0, 'filter'), '%', {
          least: 85,
        }),
      );
    figures.push(figure(`a page of a crawl, ${count} users`, of(at, 'page'), 'ms'));
    if (at > 0)
      figures.push(
        figure('  against the smallest', (100 * of(at, 'page')) / of(0, 'page'), '%', {
          most: 130,
        }),
      );
    figures.push(
      figure(
        '  a deep page at random, against the first',
        (100 * of(at, 'first')) / of(at, 'deep'),
        '%',
        {
          most: 300,
        },
      ),
    );
  }
  return figures;
}

/** The average milliseconds for each page of a crawl by `startIndex` over the whole list. */
async function crawl(url: string, people: People): Promise<number> {
  const began = performance.now();
  let pages = 0;
  for (let startIndex = 1; startIndex <= people.count; startIndex += 100) {
    await ask(url, people, `/Users?count=100&startIndex=${startIndex}`);
    pages += 1;
  }
  return (performance.now() - began) / pages;
}

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  if (values.on === undefined || values.on === name) await bench(name);
}
