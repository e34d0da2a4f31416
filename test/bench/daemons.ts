import { access, mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { startNginx } from '../support/nginx.ts';
import { freePorts } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Figure, figure, median, table } from './figures.ts';
import { load } from './load.ts';
import { populate, load as provision } from './scim-people.ts';
import { populateStage, shotsOf } from './stage.ts';

// `npm run bench:daemons -- [--rounds N] [--counts 1,2,3] [--share PERCENT]` measures these numbers
// of daemons behind nginx on one PostgreSQL, in turn (goal 10). With `--share`, each daemon gets that
// share of one processor, as on a smaller host; this requires root and cgroups (version 1 or 2).

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    counts: { type: 'string', default: '1,2,3' },
    share: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const counts = values.counts.split(',').map(Number);
const ms = 2000;
const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
const server = await startPostgres();
const daemons: Daemon[] = [];
const groups: string[] = [];
try {
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const token = await populateStage(server.url, keyFile);
  const [people] = await populate(server.url, keyFile, [1000]);
  if (people === undefined) throw new Error('there are no people');
  const env = { IDCTL_LIMITS_ENABLED: 'off', IDCTL_LOG_LEVEL: 'warn' };
  for (let at = 0; at < Math.max(...counts); at += 1)
    daemons.push(await startDaemon({ database: server.url, keyFile, env }));
  if (values.share !== undefined)
    for (const { pid } of daemons) groups.push(await limitProcessor(pid, Number(values.share)));
  const ports = await freePorts(counts.length);
  const nginx = await startNginx(ports.map(blockOf).join('\n'), ports[0] ?? 0);
  const { meByToken, right } = shotsOf('', token);
  const body = () => ({ userName: `${crypto.randomUUID()}@new.test`, active: true });
  const create = { method: 'POST' as const, path: () => '/Users', body };
  const kinds: Record<string, (url: string, daemons: number) => Promise<number>> = {
    'GET /me': async (url) => (await load(url, meByToken, 16, ms)).rate,
    // A daemon with a small share refuses passwords that wait longer than two seconds.
    'sign-in': async (url, of) => (await load(url, right, 2 * of, ms)).rate,
    'SCIM create': (url) => provision(url, people, create, ms, 16),
  };
  const seen = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1)
    for (const [kind, measure] of Object.entries(kinds))
      for (const [at, port] of ports.entries()) {
        const key = `${kind}, ${counts[at]}`;
        const rate = await measure(`http://127.0.0.1:${port}`, counts[at] ?? 1);
        seen.set(key, [...(seen.get(key) ?? []), rate]);
      }
  await nginx.stop();
  process.stdout.write(
    table('Daemons behind nginx, PostgreSQL', figuresOf(Object.keys(kinds), seen)),
  );
} finally {
  for (const daemon of daemons) await daemon.stop();
  for (const group of groups) await rmdir(group);
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** The nginx configuration in front of as many daemons as `counts` says. */
function blockOf(port: number, at: number): string {
  const servers = daemons
    .slice(0, counts[at])
    .map(({ url }) => `server ${new URL(url).host} max_fails=0;`)
    .join(' ');
  return `upstream idctl${at} { ${servers} }
    server { listen 127.0.0.1:${port}; location / { proxy_pass http://idctl${at};
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; } }`;
}

function figuresOf(kinds: string[], seen: Map<string, number[]>): Figure[] {
  const rate = (kind: string, count: number) => median(seen.get(`${kind}, ${count}`) ?? []);
  const [least = 1, ...more] = counts;
  return kinds.flatMap((kind) => [
    figure(`${kind}, daemons: ${least}`, rate(kind, least), '/s'),
    ...more.map((count) =>
      figure(`  ${count}, against ${least}`, (100 * rate(kind, count)) / rate(kind, least), '%'),
    ),
  ]);
}

/** Limits a process to `percent` of one processor; returns the folder of its control group. */
async function limitProcessor(pid: number, percent: number): Promise<string> {
  const [root, isFirst] = await access('/sys/fs/cgroup/cpu').then(
    () => ['/sys/fs/cgroup/cpu', true] as const,
    () => ['/sys/fs/cgroup', false] as const,
  );
  const group = join(root, `idctl-bench-${pid}`);
  await mkdir(group);
  const [period, quota] = [20_000, percent * 200];
  if (isFirst) {
    await writeFile(join(group, 'cpu.cfs_period_us'), `${period}`);
    await writeFile(join(group, 'cpu.cfs_quota_us'), `${quota}`);
  } else await writeFile(join(group, 'cpu.max'), `${quota} ${period}`);
  await writeFile(join(group, 'cgroup.procs'), `${pid}`);
  return group;
}
