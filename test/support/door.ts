import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import type { Actor, App } from '../../src/context.ts';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { createKeyring } from '../../src/crypto/seal.ts';
import { Refusal } from '../../src/errors.ts';
import { createMemory } from '../../src/host/memory.ts';
import type { Page } from '../../src/http/pages/page.ts';
import type { Authenticate, Route } from '../../src/http/route.ts';
import { createServer, type HttpServer } from '../../src/http/server.ts';
import { createLog } from '../../src/log/log.ts';
import type { Outbound } from '../../src/outbound/outbound.ts';
import { type Client, createClient } from './http.ts';

/** An HTTP server with the routes of a test and no services behind them. */
export interface TestDoor extends Client {
  url: string;
  server: HttpServer;
  /** The lines logged so far. */
  log: Record<string, unknown>[];
}

interface DoorOptions {
  baseUrl?: string;
  http?: { trustedProxies?: string[]; corsOrigins?: string[] };
  app?: Partial<App>;
  pages?: Page[];
  authenticate?: Authenticate;
}

/**
 * Starts the server on a free port until the test ends. Ada has the credential `good`, and every
 * credential of more than 4096 characters.
 */
export async function openDoor(routes: Route[], options: DoorOptions = {}): Promise<TestDoor> {
  const log: Record<string, unknown>[] = [];
  const app = appWithoutInside(options, log);
  const server = createServer(app, {
    routes,
    pages: options.pages ?? [],
    authenticate: options.authenticate ?? (async (_ctx, credential) => whose(credential)),
  });
  await server.listen('127.0.0.1:0');
  onTestFinished(() => server.close(0));
  const url = server.url ?? '';
  return { ...createClient(url), url, server, log };
}

/** The user with the credential `good`. */
const ada: Actor = { kind: 'user', accountId: 'a1', name: 'Ada', via: 'session', sessionId: 's1' };

function whose(credential: string): Actor {
  if (credential === 'good' || credential.length > 4096) return ada;
  throw new Refusal('invalid_credential', 'The credential is not valid.');
}

function appWithoutInside(options: DoorOptions, log: Record<string, unknown>[]): App {
  const settings = configSchema.parse({ http: options.http });
  const config = {
    ...settings,
    baseUrl: options.baseUrl ?? 'http://id.example.test',
    keyFile: '/nowhere',
    database: { ...settings.database, url: 'sqlite:/nowhere' },
  };
  return {
    config,
    clock: () => new Date('2026-11-20T10:00:00Z'),
    outbound: noOutbound,
    keyring: createKeyring(randomBytes(32)),
    passwords: createPasswordHasher(settings.password.argon2),
    log: createLog(config, { write: (line) => log.push(JSON.parse(line)) }),
    memory: createMemory(),
    databaseLoad: () => ({ used: 0, idle: 0, waiting: 0 }),
    ready: async () => ({ writable: true }),
    tellOutage: () => undefined,
    moved: new Promise(() => {}),
    rehearse: (work) => work(),
    refusalOf: () => null,
    close: async () => undefined,
    ...options.app,
  };
}

const refuseNetwork = () => Promise.reject(new Error('this test has no network'));
const noOutbound: Outbound = {
  lookupTxt: refuseNetwork,
  authorizationUrl: refuseNetwork,
  redeem: refuseNetwork,
  saml: {
    readMetadata: refuseNetwork,
    fetchMetadata: refuseNetwork,
    ourMetadata: refuseNetwork,
    request: refuseNetwork,
    inResponseTo: refuseNetwork,
    verify: refuseNetwork,
  },
  socialUrl: refuseNetwork,
  redeemSocial: refuseNetwork,
  examineProvider: refuseNetwork,
  examineAddress: refuseNetwork,
  directoryClient: refuseNetwork,
  sendMail: refuseNetwork,
  greetMailServer: refuseNetwork,
  judgeUrl: refuseNetwork,
  postMessage: refuseNetwork,
  reach: refuseNetwork,
  close: async () => undefined,
};
