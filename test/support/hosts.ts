import { execFileSync, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivileged } from './postgres.ts';
import { killAllIn } from './processes.ts';

// The hosts of docs/operations/high-availability.md. Each host is a network namespace, and all
// are connected to a bridge, so that a test can cut the network of a host. Every process of a host
// has the host's folder as its working directory, so that a test can kill or freeze a whole host.

/** The names of the hosts, in the order of their addresses. */
export const hosts = ['db1', 'db2', 'id1'] as const;
/** A host by its name. */
export type Host = (typeof hosts)[number];
/** A host with PostgreSQL. */
export type Node = 'db1' | 'db2';

/** The folders and the network of the hosts. */
export interface Site {
  folder: string;
  /** The first three parts of the hosts' addresses, such as `10.3.7`. */
  network: string;
  /** The name of the bridge. The names of the namespaces and of their links begin with it. */
  bridge: string;
  home: Record<Host, string>;
}

/** Creates each host with its folder, owned by the user that runs its programs. Requires root. */
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
  const [second, third] = [part(), part()];
  const site = {
    folder,
    network: `10.${second}.${third}`,
    bridge: `ha${second}-${third}`,
    home: { db1: home('db1'), db2: home('db2'), id1: home('id1') },
  };
  connectHosts(site);
  return site;
}

function connectHosts(site: Site): void {
  const { bridge } = site;
  ip('link', 'add', bridge, 'type', 'bridge');
  ip('address', 'add', `${ownAddress(site)}/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  for (const host of hosts) {
    const [namespace, link] = [namespaceOf(site, host), linkOf(site, host)];
    const inside = (...words: string[]) => ip('-netns', namespace, ...words);
    ip('netns', 'add', namespace);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', link, 'master', bridge, 'up');
    inside('address', 'add', `${addressOf(site, host)}/24`, 'dev', 'eth0');
    inside('link', 'set', 'eth0', 'up');
    inside('link', 'set', 'lo', 'up');
  }
}

/** Cuts a host off from all others. */
export const cutOff = (site: Site, host: Host) => ip('link', 'set', linkOf(site, host), 'down');

/** Connects a host again after `cutOff`. */
export const reconnect = (site: Site, host: Host) => ip('link', 'set', linkOf(site, host), 'up');

const namespaceOf = ({ bridge }: Site, host: Host) => `${bridge}-${host}`;
const linkOf = namespaceOf;
const ip = (...words: string[]) => execFileSync('/usr/sbin/ip', words, { stdio: 'pipe' });

/** The address of the tests in the network of the hosts. */
const ownAddress = ({ network }: Site) => `${network}.254`;

/** The address of a host. */
export const addressOf = ({ network }: Site, host: Host) => `${network}.${hosts.indexOf(host) + 1}`;

/** Replaces the documented addresses and folders in a text with those of this site. */
export function here(site: Site, host: Host, text: string): string {
  const superuser = '- host all postgres 10.0.0.1/32 scram-sha-256';
  return (
    text
      .replaceAll('127.0.0.1', addressOf(site, 'id1'))
      // The tests query both servers as the superuser.
      .replace(superuser, (line) => `${line}\n    ${line.replace('10.0.0.1', ownAddress(site))}`)
      .replaceAll('10.0.0.', `${site.network}.`)
      .replaceAll(/\/var\/(lib|log|run)\//g, `${site.home[host]}/$1/`)
      .replaceAll('/etc/pgbouncer', `${site.home[host]}/etc`)
  );
}

/** This file of db1, changed for another host as the page says. */
export function fileFor(host: Host, text: string): string {
  const change = (line: string) =>
    line.replaceAll('db1', host).replaceAll('10.0.0.1', `10.0.0.${hosts.indexOf(host) + 1}`);
  const lines = text.split('\n');
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
  const { uid, gid } = unprivileged();
  const user = more.asRoot ? [] : [`--setuid=${uid}`, `--setgid=${gid}`];
  const inside = [`--net=/run/netns/${namespaceOf(site, host)}`, ...user, '--', program, ...words];
  spawn('/usr/bin/nsenter', inside, { cwd, env, stdio: ['ignore', log, log] });
  closeSync(log);
}

interface RunOptions {
  env?: Record<string, string>;
  asRoot?: boolean;
}

/** Kills every process on the hosts, and removes the hosts. */
export async function removeSite(site: Site): Promise<void> {
  await killAllIn(site.folder);
  for (const host of hosts) ip('netns', 'delete', namespaceOf(site, host));
  ip('link', 'delete', site.bridge);
  await rm(site.folder, { recursive: true, force: true });
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
