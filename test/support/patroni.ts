import { chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  addressOf,
  createSite,
  cutOff,
  fileFor,
  type Host,
  here,
  hosts,
  type Node,
  reconnect,
  removeSite,
  run,
  type Site,
  said,
  write,
} from './hosts.ts';
import { documentedFile } from './operations.ts';
import { unprivileged } from './postgres.ts';
import { freezeAllIn, killAllIn, killNamed } from './processes.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** PostgreSQL under Patroni, with a synchronous standby, behind HAProxy and PgBouncer. */
export interface Patroni {
  /** The URL of idctl's database through HAProxy. */
  url: string;
  /** The URL of the same database through PgBouncer and HAProxy. */
  pooledUrl: string;
  /** Waits until a primary has a synchronous standby, and returns the primary's node. */
  settled(): Promise<Node>;
  /** Kills every process of a node. */
  kill(node: Node): Promise<void>;
  /** Suspends every process of a node. The returned function resumes them. */
  freeze(node: Node): Promise<() => void>;
  /** Cuts a node off from the network. The returned function connects it again. */
  cutOff(node: Node): () => void;
  /** Makes the etcd of this node the leader of etcd. */
  leadEtcd(node: Node): Promise<void>;
  /** Starts servers with version 2 of etcd's interface from now on, as the page says. */
  useVersion2(): void;
  /** Kills etcd on these hosts. The returned function starts it again. */
  killEtcd(on: Host[]): () => void;
  /** The disk of db1's PostgreSQL, if it is small. */
  disk: SmallDisk | null;
  /** Switches this primary and the standby, as `patronictl switchover` does. */
  switchOver(primary: Node): Promise<void>;
  /** Starts a node again. */
  start(node: Node): void;
  /** Waits until this node is the primary. Returns the time of its promotion. */
  promoted(node: Node): Promise<number>;
  /** Runs SQL in PostgreSQL on a node, as its superuser. */
  query(node: Node, sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** The last log lines of the programs on all hosts. */
  said(): Promise<string>;
  /** Kills every process and removes the files. */
  stop(): Promise<void>;
}

/** The options of a cluster. */
export interface PatroniOptions {
  /** The size in MiB of the disk of db1's PostgreSQL. By default it has the disk of the tests. */
  smallDisk?: number;
  /** Starts with version 3 of etcd's interface, as the page said before, until `useVersion2`. */
  etcd3?: boolean;
}

/** Starts the cluster as root, with the files of docs/operations/high-availability.md and an empty database `idctl`. */
export async function startPatroni(options: PatroniOptions = {}): Promise<Patroni> {
  const site = await createSite();
  const { smallDisk, etcd3 = false } = options;
  const disk = smallDisk === undefined ? null : mountFor(site, smallDisk);
  let file = etcd3 ? olderFile : documentedFile;
  const stop = async () => {
    disk?.unmount();
    await removeSite(site);
  };
  try {
    for (const host of hosts) startEtcd(site, host, file);
    startNode(site, 'db1', file);
    await until('db1 is the primary', 60, () => answers(site, 'db1', '/primary'));
    startNode(site, 'db2', file);
    const settled = () => findPrimary(site);
    await settled();
    const { password } = new URL(databaseUrl());
    await query(site, 'db1', `CREATE ROLE idctl LOGIN PASSWORD '${password}'`);
    await query(site, 'db1', 'CREATE DATABASE idctl OWNER idctl');
    startProxies(site);
    const url = here(site, 'id1', databaseUrl());
    const pooledUrl = url.replace(':5433', ':6432');
    // HAProxy uses each server until its first check.
    await until('HAProxy has found the standby', 60, async () =>
      (await said(site)).includes('Server postgresql/db2 is DOWN'),
    );
    await until('PgBouncer and HAProxy lead to the primary', 30, () => ask(pooledUrl, 'SELECT 1'));
    return {
      url,
      pooledUrl,
      settled,
      kill: (node) => killAllIn(site.home[node]),
      freeze: (node) => freezeAllIn(site.home[node]),
      cutOff(node) {
        cutOff(site, node);
        return () => reconnect(site, node);
      },
      leadEtcd: (node) => leadEtcd(site, node),
      useVersion2() {
        file = documentedFile;
      },
      killEtcd(on) {
        for (const host of on) killNamed(site.home[host], 'etcd');
        return () => {
          for (const host of on) startEtcd(site, host, file);
        };
      },
      disk,
      switchOver: (primary) => switchOver(site, primary),
      start(node) {
        startEtcd(site, node, file);
        startNode(site, node, file);
      },
      promoted: (node) => promotionOf(site, node),
      query: (node, sql, database) => query(site, node, sql, database),
      said: () => said(site),
      stop,
    };
  } catch (error) {
    const words = await said(site);
    await stop();
    throw new Error(words, { cause: error });
  }
}

function mountFor(site: Site, mebibytes: number): SmallDisk {
  const disk = mountSmallDisk(mebibytes, join(site.home.db1, 'lib/postgresql'));
  const { uid, gid } = unprivileged();
  if (uid !== undefined) chownSync(disk.folder, uid, gid);
  return disk;
}

const etcdMember = z.object({ header: z.object({ member_id: z.string() }), leader: z.string() });

async function leadEtcd(site: Site, node: Node): Promise<void> {
  const ask = async (host: Host, path: string, question: object): Promise<unknown> => {
    const url = `http://${addressOf(site, host)}:2379/v3/maintenance/${path}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(question) });
    return answer.json();
  };
  await until(`the etcd of ${node} leads`, 60, async () => {
    const members = new Map<string, Host>();
    for (const host of hosts)
      members.set(etcdMember.parse(await ask(host, 'status', {})).header.member_id, host);
    const { header, leader } = etcdMember.parse(await ask(node, 'status', {}));
    const leading = members.get(leader);
    if (leading !== undefined && leading !== node)
      await ask(leading, 'transfer-leadership', { targetID: header.member_id });
    return leading === node;
  });
}

type FileOf = typeof documentedFile;

/** The files for version 3 of etcd's interface, which the page showed before. */
const olderFile: FileOf = (path) =>
  documentedFile(path)
    .replace(/^ETCD_ENABLE_V2=true\n/m, '')
    .replace(/^etcd:$/m, 'etcd3:')
    .replace(/^ +(failsafe_mode|primary_start_timeout): .*\n/gm, '');

function startEtcd(site: Site, host: Host, file: FileOf): void {
  const text = fileFor(host, file('/etc/default/etcd'));
  const lines = here(site, host, text).split('\n');
  const settings = lines.filter((line) => /^ETCD_/.test(line)).map((line) => line.split(/=(.*)/));
  // Debian's unit sets this folder.
  const data = { ETCD_DATA_DIR: join(site.home[host], 'lib/etcd') };
  run(site, host, '/usr/bin/etcd', [], { env: { ...Object.fromEntries(settings), ...data } });
}

function startNode(site: Site, node: Node, file: FileOf): void {
  const text = fileFor(node, file('/etc/patroni/config.yml'));
  run(site, node, '/usr/bin/patroni', [write(site, node, 'patroni.yml', text)]);
}

function startProxies(site: Site): void {
  const asRoot = process.getuid?.() === 0;
  const page = documentedFile('/etc/haproxy/haproxy.cfg');
  // Only root may change the user.
  const text = asRoot ? page : page.replaceAll(/^ +(user|group) .*\n/gm, '');
  const haproxy = write(site, 'id1', 'haproxy.cfg', text);
  run(site, 'id1', '/usr/sbin/haproxy', ['-f', haproxy], { asRoot });
  for (const name of ['userlist.txt', 'pgbouncer.ini'])
    write(site, 'id1', name, documentedFile(`/etc/pgbouncer/${name}`));
  run(site, 'id1', '/usr/sbin/pgbouncer', [join(site.home.id1, 'etc/pgbouncer.ini')]);
}

function databaseUrl(): string {
  return String(parse(documentedFile('/etc/idctl/idctl.yaml')).database.url);
}

async function answers(site: Site, node: Node, path: string): Promise<boolean> {
  const asked = fetch(`http://${addressOf(site, node)}:8008${path}`, {
    signal: AbortSignal.timeout(2000),
  });
  return asked.then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function switchOver(site: Site, leader: Node): Promise<void> {
  const url = `http://${addressOf(site, leader)}:8008/switchover`;
  const body = JSON.stringify({ leader, candidate: otherNode(leader) });
  const unnamed = await fetch(url, { method: 'POST', body });
  if (unnamed.status !== 401) throw new Error(`without a password: ${unnamed.status}`);
  const { username, password } = parse(documentedFile('/etc/patroni/config.yml')).restapi
    .authentication;
  const authorization = `Basic ${btoa(`${username}:${password}`)}`;
  const answer = await fetch(url, { method: 'POST', body, headers: { authorization } });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** The node that is not this one. */
export const otherNode = (node: Node): Node => (node === 'db1' ? 'db2' : 'db1');

async function findPrimary(site: Site): Promise<Node> {
  let primary: Node = 'db1';
  await until('a primary has a synchronous standby', 120, async () => {
    primary = (await answers(site, 'db1', '/primary')) ? 'db1' : 'db2';
    const standby = otherNode(primary);
    if (!(await answers(site, primary, '/primary'))) return false;
    if (!(await answers(site, standby, '/synchronous'))) return false;
    const [row] = await query(site, primary, 'SELECT sync_state FROM pg_stat_replication');
    return row?.['sync_state'] === 'sync';
  });
  return primary;
}

async function promotionOf(site: Site, node: Node): Promise<number> {
  await until(`${node} is promoted`, 120, async () => {
    const [row] = await query(site, node, 'SELECT pg_is_in_recovery() AS standby');
    return row?.['standby'] === false;
  });
  const [row] = await query(
    site,
    node,
    `SELECT current_setting('data_directory') || '/pg_wal/' ||
       left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.history' AS written`,
  );
  // PostgreSQL writes this file at the end of its recovery.
  return statSync(String(row?.['written'])).mtimeMs;
}

function query(site: Site, node: Node, sql: string, database = 'postgres') {
  const { username, password } = parse(documentedFile('/etc/patroni/config.yml')).postgresql
    .authentication.superuser;
  return ask(`postgres://${username}:${password}@${addressOf(site, node)}:5432/${database}`, sql);
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function until(what: string, seconds: number, holds: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`waited ${seconds} seconds in vain: ${what}`);
    await pause(50);
  }
}
