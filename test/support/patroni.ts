import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'yaml';
import {
  addressOf,
  createSite,
  fileFor,
  here,
  hosts,
  type Node,
  removeSite,
  run,
  type Site,
  said,
  write,
} from './hosts.ts';
import { documentedFile } from './operations.ts';
import { killAllIn } from './processes.ts';

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

/** Starts the cluster, with the files of docs/operations.md and an empty database `idctl`. */
export async function startPatroni(): Promise<Patroni> {
  const site = await createSite();
  const stop = () => removeSite(site);
  try {
    for (const host of hosts) startEtcd(site, host);
    startNode(site, 'db1');
    await until('db1 is the primary', 60, () => answers(site, 'db1', '/primary'));
    startNode(site, 'db2');
    const settled = () => findPrimary(site);
    await settled();
    const { password } = new URL(databaseUrl());
    await query(site, 'db1', `CREATE ROLE idctl LOGIN PASSWORD '${password}'`);
    await query(site, 'db1', 'CREATE DATABASE idctl OWNER idctl');
    startProxies(site);
    const url = here(site, 'id1', databaseUrl());
    const pooledUrl = url.replace(':5433', ':6432');
    await until('PgBouncer and HAProxy lead to the primary', 30, () => ask(pooledUrl, 'SELECT 1'));
    return {
      url,
      pooledUrl,
      settled,
      kill: (node) => killAllIn(site.home[node]),
      switchOver: (primary) => switchOver(site, primary),
      start(node) {
        startEtcd(site, node);
        startNode(site, node);
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

function startEtcd(site: Site, host: (typeof hosts)[number]): void {
  const lines = here(site, host, fileFor(host, '/etc/default/etcd')).split('\n');
  const settings = lines.filter((line) => /^ETCD_/.test(line)).map((line) => line.split(/=(.*)/));
  // Debian's unit sets this folder.
  const data = { ETCD_DATA_DIR: join(site.home[host], 'lib/etcd') };
  run(site, host, '/usr/bin/etcd', [], { env: { ...Object.fromEntries(settings), ...data } });
}

function startNode(site: Site, node: Node): void {
  const file = write(site, node, 'patroni.yml', fileFor(node, '/etc/patroni/config.yml'));
  run(site, node, '/usr/bin/patroni', [file]);
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
