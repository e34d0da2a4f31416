import { createServer } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { App } from '../context.ts';
import { lookAtClock } from '../services/foundation/clock/clock.ts';
import { signInCounts } from '../services/foundation/events/record.ts';
import { countBacklog } from '../services/instance/upkeep.ts';
import { readVersion } from '../version.ts';
import { createDrain } from './connections.ts';
import { listen, urlOf } from './server.ts';

// Prometheus metrics have their own listener, and the network decides who can read them. No label
// contains a person, an organization or text that a client sends. Each label has few values.

/** The metrics of a process. */
export interface Metrics {
  /** Runs before the routes, and measures the duration of each request. */
  watch: RequestHandler;
  /** Serves `/metrics` on `HOST:PORT`. Refuses with `listen_failed`. */
  listen(hostPort: string): Promise<void>;
  readonly url: string | null;
  close(): Promise<void>;
}

/** Creates the metrics of the app; they are served only after `listen`. */
export function createMetrics(app: App): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  tellBuild(registry);
  tellSignIns(registry, app);
  tellLoad(registry, app);
  const askDatabase = tellBacklog(registry, app);
  const collect = async () => {
    await askDatabase();
    return registry.metrics();
  };
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    collect().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      (err) => {
        app.log.error({ err }, 'metrics failed');
        response.writeHead(500).end();
      },
    );
  });
  const drain = createDrain(server);
  return {
    watch: watchRequests(registry),
    listen: (hostPort) => listen(server, hostPort),
    get url() {
      return urlOf(server.address());
    },
    close: () => drain(1000),
  };
}

function watchRequests(registry: Registry): RequestHandler {
  const inFlight = new Gauge({
    name: 'idctl_http_requests_in_flight',
    help: 'Requests being answered',
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'idctl_http_request_duration_seconds',
    help: 'Duration of requests, by route, method and class of status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return (request, response, next) => {
    const startedAt = performance.now();
    inFlight.inc();
    response.once('close', () => {
      inFlight.dec();
      const status = `${Math.floor(response.statusCode / 100)}xx`;
      const labels = { method: methodOf(request), route: routeOf(request), status };
      duration.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function methodOf({ method }: Request): string {
  return methods.includes(method) ? method : 'other';
}

const scimResources = [
  'Users',
  'Groups',
  'Schemas',
  'ResourceTypes',
  'ServiceProviderConfig',
  'Bulk',
  'Me',
];

/** The route pattern of the request, never its path. */
function routeOf({ route, path }: Request): string {
  if (typeof route?.path === 'string') return route.path;
  const [first, , , , resource = '', id] = path.split('/').slice(1);
  if (first?.toLowerCase() !== 'scim') return 'other';
  const known = scimResources.find((name) => name.toLowerCase() === resource.toLowerCase());
  return `/scim/v2/orgs/:org${known === undefined ? '' : `/${known}${id ? '/:id' : ''}`}`;
}

function tellBuild(registry: Registry): void {
  const labels = { version: readVersion(), node: process.version };
  const build = new Gauge({
    name: 'idctl_build_info',
    help: 'The running version, as labels; the value is always 1',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set(labels, 1);
}

function tellSignIns(registry: Registry, app: App): void {
  new Counter({
    name: 'idctl_sign_ins_total',
    help: 'Sign-in attempts by method and outcome; attempts over a rate limit are not counted',
    labelNames: ['method', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [key, count] of signInCounts(app)) {
        const [method = '', outcome = ''] = key.split(' ');
        this.inc({ method, outcome }, count);
      }
    },
  });
}

function tellLoad(registry: Registry, app: App): void {
  const tell = (name: string, help: string, count: () => Record<string, number>) =>
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      registers: [registry],
      collect() {
        for (const [state, value] of Object.entries(count())) this.set({ state }, value);
      },
    });
  const hashing = 'Password hashes that are running or waiting';
  tell('idctl_password_hashes', hashing, () => app.passwords.load());
  const connections =
    'Database connections in use and idle, and waiting requests. On SQLite, only writes count';
  tell('idctl_database_connections', connections, () => ({ ...app.databaseLoad() }));
}

/** Returns a function that asks the database once and sets every backlog gauge. */
function tellBacklog(registry: Registry, app: App): () => Promise<void> {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge('idctl_database_up', '1 if the database answers');
  const writable = gauge('idctl_database_writable', '1 if the database stores writes');
  const waiting = gauge('idctl_backlog', 'Messages waiting to be sent', ['to']);
  const late = gauge(
    'idctl_backlog_late_seconds',
    'Delay of the oldest waiting message, in seconds',
    ['to'],
  );
  const held = gauge('idctl_sweep_held', '1 if the clock jumped, so nothing expired is deleted');
  return async () => {
    const now = app.clock();
    const backlog = await countBacklog(now).catch(() => null);
    up.set(backlog === null ? 0 : 1);
    const seen = await lookAtClock({ now }).catch(() => null);
    if (seen !== null) held.set(seen.resumesAt === null ? 0 : 1);
    writable.set((await app.ready().catch(() => null))?.writable ? 1 : 0);
    waiting.reset();
    late.reset();
    for (const [to, { waiting: count, seconds }] of Object.entries(backlog ?? {})) {
      waiting.set({ to }, count);
      late.set({ to }, seconds);
    }
  };
}
