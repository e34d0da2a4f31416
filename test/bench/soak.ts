import { subscribe } from 'node:diagnostics_channel';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Stage } from '../support/mixed-load.ts';
import { freePorts } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { lineThrough, percentile } from './figures.ts';
import { buildRelease } from './release.ts';
import { setSoakStage } from './soak-load.ts';
import { plotSoaks, readSoaks } from './soak-plot.ts';
import {
  type IdleProcess,
  type Measure,
  measures,
  readMetrics,
  type Sample,
  startIdleProcess,
  takeSample,
} from './soak-samples.ts';

// `npm run bench:soak [-- --minutes N --on PostgreSQL]` runs one installed daemon under mixed load,
// and records its memory, handles and delay. `--report` prints the last run on each database again,
// and draws both into `docs/development/soak.svg`.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    on: { type: 'string', default: 'SQLite' },
    report: { type: 'boolean', default: false },
  },
});
const every = 10_000;
const folder = resolve(import.meta.dirname, '../../.tmp/soak');
const tables = ['accounts', 'memberships', 'scim_records', 'events', 'sessions', 'refresh_tokens'];
const print = (text: string) => process.stdout.write(text);

if (!values.report) await soak(values.on, Number(values.minutes));
await report();

async function soak(on: string, minutes: number): Promise<void> {
  const release = await buildRelease();
  const place = await mkdtemp(join(tmpdir(), 'idctl-soak-'));
  const server = on === 'PostgreSQL' ? await startPostgres() : null;
  const database = server?.url ?? `sqlite:${join(place, 'idctl.db')}`;
  const { stage, openLoad, stop } = await setSoakStage(database, release.idctl);
  let idle: IdleProcess | undefined;
  try {
    const [port] = await freePorts(1);
    const metricsUrl = `http://127.0.0.1:${port}`;
    const daemon = await stage.site.serve({ IDCTL_METRICS_LISTEN: `127.0.0.1:${port}` });
    stage.url = daemon.url;
    const answers = countAnswers(daemon.url);
    const load = await openLoad();
    const stopLoad = load.start();
    const samples: Sample[] = [];
    idle = startIdleProcess();
    const began = Date.now();
    let before = answers.total;
    for (let at = 1; at <= (minutes * 60_000) / every; at += 1) {
      await pause(began + at * every - Date.now());
      // In a new round, a command creates another sign-in link.
      stage.round += 1;
      const requests = (answers.total - before) / (every / 1000);
      before = answers.total;
      const taken = await takeSample({ pid: daemon.pid, metricsUrl, database }, idle);
      samples.push({ seconds: (at * every) / 1000, ...taken, requests });
      if (at % 6 === 0) print(`${lineOf(samples.at(-1))}\n`);
    }
    await stopLoad();
    const metrics = await readMetrics(metricsUrl);
    print(`\nAnswers by status: ${told(answers.byStatus)}\n`);
    print(`Sign-ins: ${told(signInsIn(metrics))}\n`);
    print(`With a second factor: ${countSecondFactors(stage)}\n`);
    print(`Rows: ${told(await countRows(stage.site.query))}\n`);
    tellFaults(stage.ledger, daemon.log());
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${on}.json`), JSON.stringify(samples));
    print(`Exit code of the daemon: ${await daemon.stop()}\n`);
  } finally {
    idle?.stop();
    await stop();
    await server?.stop();
    await release.remove();
    await rm(place, { recursive: true, force: true });
  }
}

/** Prints and draws the last run on each database. */
async function report(): Promise<void> {
  const soaks = await readSoaks(folder);
  for (const { name, samples } of soaks) print(tableOf(name, samples));
  await plotSoaks(soaks, resolve(import.meta.dirname, '../../docs/development/soak.svg'));
}

/** Counts the daemon's answers to all clients. */
function countAnswers(url: string) {
  const counted = { total: 0, byStatus: new Map<string, number>() };
  subscribe('undici:request:headers', (message) => {
    const { request, response } = Object(message);
    if (request.origin !== url) return;
    counted.total += 1;
    const status = String(response.statusCode);
    counted.byStatus.set(status, (counted.byStatus.get(status) ?? 0) + 1);
  });
  return counted;
}

function lineOf(sample: Sample | undefined): string {
  const parts = keys().map((key) => `${key} ${sample?.[key].toFixed(1)}`);
  return `${sample?.seconds} s: ${parts.join(', ')}`;
}

function keys(): Measure[] {
  return Object.keys(measures) as Measure[]; // The keys of a literal.
}

function tableOf(on: string, samples: Sample[]): string {
  const rows = keys().map((key) => {
    const { name, unit, mayRise } = measures[key];
    const all = samples.map((sample) => sample[key]);
    const { mean, rise } = lineThrough(samples.map((one) => [one.seconds, one[key]]));
    const numbers = [all[0] ?? 0, percentile(all, 50), Math.max(...all), mean, rise];
    const goal = mayRise === null ? '' : `≤ ${mayRise} ${rise <= mayRise ? 'flat' : 'RISES'}`;
    const cells = numbers.map((value) => value.toFixed(1).padStart(8)).join('');
    return `  ${`${name} ${unit && `(${unit})`}`.padEnd(32)}${cells}  ${goal}`.trimEnd();
  });
  const head = ['first', 'median', 'most', 'mean', 'rise'].map((word) => word.padStart(8)).join('');
  return `\nSoak, ${on}; mean and rise over the last two thirds\n  ${' '.repeat(32)}${head}\n${rows.join('\n')}\n`;
}

function told(counts: Map<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(', ');
}

/**
 * The number of sign-ins with a second factor: all but the first of each account, which had none.
 */
function countSecondFactors({ ledger, enrolled }: Stage): number {
  const of = ({ email }: { email: string }) => ledger.stateOf(`sign-ins of ${email} by password`);
  return enrolled.reduce((sum, one) => sum + Number(of(one) ?? 1) - 1, 0);
}

function signInsIn(metrics: Map<string, number>): Map<string, number> {
  const found = [...metrics].flatMap(([series, count]) => {
    const [, labels] = /^idctl_sign_ins_total\{(.*)\}$/.exec(series) ?? [];
    return labels === undefined ? [] : [[labels.replace(/\w+="(\w+)",?/g, '$1 ').trim(), count]];
  });
  return new Map(found as [string, number][]); // Pairs, as made above.
}

async function countRows(query: (sql: string) => Promise<Record<string, unknown>[]>) {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const [row] = await query(`SELECT count(*) AS rows FROM ${table}`);
    counts.set(table, Number(row?.['rows']));
  }
  return counts;
}

function tellFaults(
  { faults, unavailable, counts }: { faults: string[]; unavailable: string[]; counts: object },
  log: string,
): void {
  const bad = log.split('\n').filter((line) => line !== '' && !/"level":(30|"info")/.test(line));
  print(
    `Writes: ${JSON.stringify(counts)}, 503: ${unavailable.length}, faults: ${faults.length}\n`,
  );
  const kinds = Map.groupBy([...unavailable, ...faults], (text) =>
    text.replace(/\w+[@-][\w.@-]+/g, '…').slice(0, 120),
  );
  for (const [kind, alike] of kinds) print(`  ${alike.length} × ${kind}\n`);
  print(`Log lines above info: ${bad.length}\n${bad.slice(0, 20).join('\n')}\n`);
}
