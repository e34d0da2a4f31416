import { spawn } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentedFile } from './operations.ts';
import { unprivileged } from './postgres.ts';
import { killAllIn } from './processes.ts';

// The three hosts of "High availability" in docs/operations.md, on addresses of the loopback
// network. Every process of a host has the host's folder as its working directory, so that a test
// can kill a whole host.

/** The names of the hosts, in the order of their addresses. */
export const hosts = ['db1', 'db2', 'id1'] as const;
type Host = (typeof hosts)[number];
/** A host with PostgreSQL. */
export type Node = 'db1' | 'db2';

/** The folders and the network of the hosts. */
export interface Site {
  folder: string;
  /** The first three parts of the hosts' addresses, such as `127.3.7`. */
  network: string;
  home: Record<Host, string>;
}

/** Creates a folder for each host, owned by the user that runs its programs. */
export async function createSite(): Promise<Site> {
  const folder = realpathSync(await mkdtemp(join(tmpdir(), 'idctl-hosts-')));
  const { uid, gid } = unprivileged();
  const own = (path: string) => {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (uid !== undefined) chownSync(path, uid, gid);
    return path;
  };
  own(folder);
  const home = (host: Host) => {
    for (const place of ['', 'etc', 'lib', 'log', 'run']) own(join(folder, host, place));
    for (const place of ['lib', 'log', 'run']) own(join(folder, host, place, 'postgresql'));
    return join(folder, host);
  };
  const part = () => 1 + Math.floor(Math.random() * 254);
  return {
    folder,
    network: `127.${part()}.${part()}`,
    home: { db1: home('db1'), db2: home('db2'), id1: home('id1') },
  };
}

/** The address of a host. */
export const addressOf = ({ network }: Site, host: Host) => `${network}.${hosts.indexOf(host) + 1}`;

/** Replaces the documented addresses and folders in a text with those of this site. */
export function here(site: Site, host: Host, text: string): string {
  return (
    text
      .replaceAll('127.0.0.1', addressOf(site, 'id1'))
      // On the loopback network, every connection comes from this address.
      .replaceAll(/10\.0\.0\.\d\/32/g, '127.0.0.1/32')
      .replaceAll('10.0.0.', `${site.network}.`)
      .replaceAll(/\/var\/(lib|log|run)\//g, `${site.home[host]}/$1/`)
      .replaceAll('/etc/pgbouncer', `${site.home[host]}/etc`)
  );
}

/** The documented file of db1, changed for another host as the page says. */
export function fileFor(host: Host, path: string): string {
  const change = (line: string) =>
    line.replaceAll('db1', host).replaceAll('10.0.0.1', `10.0.0.${hosts.indexOf(host) + 1}`);
  const lines = documentedFile(path).split('\n');
  const isKept = (line: string) => line.includes('10.0.0.2') || /^ *- host /.test(line);
  return lines.map((line) => (isKept(line) ? line : change(line))).join('\n');
}

/** Writes a file of a host that only the user of its programs can read, and returns its path. */
export function write(site: Site, host: Host, name: string, text: string): string {
  const path = join(site.home[host], 'etc', name);
  const { uid, gid } = unprivileged();
  writeFileSync(path, here(site, host, text), { mode: 0o600 });
  if (uid !== undefined) chownSync(path, uid, gid);
  return path;
}

/** Starts a program on a host. */
export function run(
  site: Site,
  host: Host,
  program: string,
  words: string[],
  more: RunOptions = {},
) {
  const cwd = site.home[host];
  const log = openSync(join(cwd, 'log', `${program.split('/').at(-1)}.log`), 'a');
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: cwd, ...more.env };
  const user = more.asRoot ? {} : unprivileged();
  spawn(program, words, { ...user, cwd, env, stdio: ['ignore', log, log] });
  closeSync(log);
}

interface RunOptions {
  env?: Record<string, string>;
  asRoot?: boolean;
}

/** Kills every process on the hosts, and removes their folders. */
export async function removeSite({ folder }: Site): Promise<void> {
  await killAllIn(folder);
  await rm(folder, { recursive: true, force: true });
}

/** The last log lines of the programs on all hosts. */
export async function said({ home }: Site): Promise<string> {
  const logs = hosts.flatMap((host) =>
    ['etcd', 'patroni', 'haproxy', 'pgbouncer'].map((name) => join(home[host], `log/${name}.log`)),
  );
  const tails = logs.map(async (log) => {
    const text = await readFile(log, 'utf8').catch(() => '');
    return text === '' ? '' : `${log}\n${text.split('\n').slice(-15).join('\n')}`;
  });
  return (await Promise.all(tails)).join('\n');
}
