import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openApp } from '../../src/app.ts';
import { configSchema, type Settings } from '../../src/config/schema.ts';
import { type Actor, type App, type Context, openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import type { PasswordHasher } from '../../src/crypto/password.ts';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { password } from './builders.ts';
import { migratedDatabaseUrl } from './database.ts';
import { type Client, createClient } from './http.ts';
import { freePorts } from './ports.ts';
import { sqliteDriver } from './sqlite-driver.ts';

type Given = Parameters<typeof configSchema.parse>[0] & object;

/** An instance in this process: its app, its HTTP server, and a clock that the test moves. */
export interface Idctl {
  app: App;
  baseUrl: string;
  /** A context of the operator, as on the command line. */
  operator(): Context;
  as(actor: Actor): Context;
  /** A client of the server; with `keepCookies`, it keeps cookies as a browser does. */
  client(options?: Parameters<typeof createClient>[1]): Client;
  /** Moves the clock of the instance forward. */
  wait(seconds: number): void;
  /** Stops the clock of the instance, so that only `wait` moves it. */
  stopClock(): void;
  close(): Promise<void>;
}

/** The database and key file of an earlier instance, to open it again. */
export interface Place {
  url: string;
  keyFile: string;
}

/**
 * Opens an instance on a free port, with a fresh database or that of `place`. A process can have
 * one instance open at a time.
 */
export async function openIdctl(given: Given = {}, place?: Place): Promise<Idctl> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-app-'));
  const keyFile = place?.keyFile ?? join(folder, 'master.key');
  if (place === undefined) await createKeyFile(keyFile);
  const [port] = await freePorts(1);
  const baseUrl = `http://127.0.0.1:${port}`;
  // The default hash is the cheapest that the schema allows. Tests do not read this log.
  const settings: Settings = configSchema.parse({ baseUrl, log: { level: 'fatal' }, ...given });
  const database = {
    ...settings.database,
    sqliteDriver,
    url: place?.url ?? (await migratedDatabaseUrl()),
  };
  const config = { ...settings, baseUrl: settings.baseUrl ?? baseUrl, keyFile, database };
  let lead = 0;
  let stoppedAt: number | undefined;
  const opened = await openApp({ config }, { migrate: 'yes' });
  const app: App = {
    ...opened,
    clock: () => new Date((stoppedAt ?? Date.now()) + lead),
    passwords: 'password' in given ? opened.passwords : quickHasher(opened.passwords),
  };
  const server = createServer(app, surface);
  const close = async () => {
    leftOpen.delete(close);
    await server.close(0);
    await app.close();
    await rm(folder, { recursive: true, force: true });
  };
  leftOpen.add(close);
  await server.listen(`127.0.0.1:${port}`);
  return {
    app,
    baseUrl,
    operator: () => openContext(app, { kind: 'operator', name: 'test' }),
    as: (actor) => openContext(app, actor),
    client: (options) => createClient(baseUrl, options),
    wait: (seconds) => {
      lead += seconds * 1000;
    },
    stopClock: () => {
      stoppedAt ??= Date.now();
    },
    close,
  };
}

const leftOpen = new Set<() => Promise<void>>();

/**
 * Closes the instances that a failed test has left open, because later test files share the
 * process.
 */
export async function closeLeftOpen(): Promise<void> {
  for (const close of leftOpen) await close();
}

/**
 * A hasher that is quick for the builders' password, which would take a third of the suite's time.
 * It returns each prepared hash once. Tests with settings of `password` get the real hasher.
 */
function quickHasher(hasher: PasswordHasher): PasswordHasher {
  const made = [...inject('hashes')];
  const right = new Set(made);
  return {
    ...hasher,
    async hash(given, client) {
      const hash = given === password ? made.pop() : undefined;
      return hash ?? hasher.hash(given, client);
    },
    async verify(hash, given, onTurn, client) {
      if (given !== password || hash === null || !right.has(hash))
        return hasher.verify(hash, given, onTurn, client);
      await onTurn?.();
      return true;
    },
  };
}
