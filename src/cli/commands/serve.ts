import { execFile } from 'node:child_process';
import { on, once } from 'node:events';
import { writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { LoadedConfig } from '../../config/load.ts';
import type { App } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { returnMemory } from '../../host/memory-return.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Presence } from '../../jobs/presence.ts';
import type { ConfigurationFile } from '../../services/instance/daemons.ts';
import { verb } from '../command.ts';
import { configurationFile } from '../older-daemon.ts';
import {
  becomeInstanceOwner,
  readConfiguration,
  requireDatabaseFile,
  requireSetUp,
} from '../operator.ts';
import type { Call } from '../run.ts';

/** The time that open requests have to finish, in milliseconds. */
const drainBudget = 7000;
/** The process ends this many milliseconds after a signal, even if work is unfinished. */
const stopBudget = 8000;

/** The file of a daemon that is configured only by environment variables. */
const noFile: ConfigurationFile = { file: '', digest: '', restDigest: '' };

export function addServeCommand(program: Command): void {
  verb(program, 'serve', {
    summary: 'Run the daemon: migrate, serve, and drain on SIGTERM',
    options: { '--listen <host:port>': 'where to listen (default: the setting listen)' },
    example: 'idctl serve --listen 127.0.0.1:8420',
    run: serve,
  });
}

async function serve(call: Call): Promise<void> {
  const { listen } = call.input;
  const overrides = typeof listen === 'string' ? { listen } : {};
  const read = () => readConfiguration(call.flags, { overrides });
  const loaded = await read();
  requireSetUp(loaded);
  requireDatabaseFile(loaded);
  becomeInstanceOwner(loaded);
  const { openApp } = await import('../../app.ts');
  const app = await openApp(loaded, { migrate: 'yes', besideOthers: call.flags.yes });
  try {
    process.on('uncaughtExceptionMonitor', (err) => app.log.fatal({ err }, 'bug'));
    for (const warning of loaded.warnings) app.log.warn(warning);
    await serveUntilSignal(call, { loaded, read }, app);
  } finally {
    await app.close();
  }
}

/** The configuration as loaded, and a function that reads it again. */
interface Loaded {
  loaded: LoadedConfig;
  read(): Promise<LoadedConfig>;
}

async function serveUntilSignal(call: Call, given: Loaded, app: App): Promise<void> {
  const { config } = given.loaded;
  const [{ createServer }, { surface }, { startJobs }, { startPresence }] = await Promise.all([
    import('../../http/server.ts'),
    import('../../http/surface.ts'),
    import('../../jobs/scheduler.ts'),
    import('../../jobs/presence.ts'),
    app.passwords.ready(),
  ]);
  const metrics = await openMetrics(app, config.metrics.listen);
  const server = createServer(app, { ...surface, ...(metrics ? { watch: metrics.watch } : {}) });
  // Listens for signals before a client can see that the daemon is ready.
  const stopped = Promise.race([
    once(process, 'SIGTERM'),
    once(process, 'SIGINT'),
    terminalGone(),
    app.moved,
  ]);
  await server.listen(config.listen).catch((error) => notTwice(error, config.listen));
  returnMemory();
  const stopJobs = startJobs(app);
  const file = configurationFile(given.loaded) ?? noFile;
  const presence = await startPresence(app, server.url ?? config.listen, file);
  process.on('SIGHUP', () => {
    if (!isTerminalGone()) void reloadConfiguration(app, given.read, presence);
  });
  if (process.stderr.isTTY)
    call.note(`idctl: listening on ${server.url}, base URL ${config.baseUrl}`);
  else app.log.info({ listen: server.url, baseUrl: config.baseUrl, pid: process.pid }, 'listening');
  await tellSystemd(app, 'READY=1');
  const cause = await stopped;
  const moved = cause instanceof Refusal ? cause : null;
  endInTime(app, moved === null ? 0 : 3);
  await tellSystemd(app, 'STOPPING=1');
  await server.close(drainBudget);
  await metrics?.close();
  // Stop the jobs after the last request, because they write data that requests queued.
  await stopJobs();
  await presence.end();
  app.log.info('stopped');
  // Exit with a failure, so that systemd restarts the daemon with the new configuration.
  if (moved !== null) throw moved;
}

/** Resolves at the SIGHUP of a closed terminal. Any other SIGHUP reloads the configuration. */
async function terminalGone(): Promise<void> {
  for await (const _ of on(process, 'SIGHUP')) if (isTerminalGone()) return;
}

function isTerminalGone(): boolean {
  if (!process.stderr.isTTY) return false;
  try {
    writeSync(2, '');
    return false;
  } catch {
    return true;
  }
}

/** Applies the changed settings that a daemon can apply, and logs those that need a restart. */
async function reloadConfiguration(
  app: App,
  read: () => Promise<LoadedConfig>,
  presence: Presence,
): Promise<void> {
  try {
    const { reload } = await import('../../reload.ts');
    const loaded = await read();
    const { taken, left } = reload(app, loaded.config);
    app.log.info({ settings: taken.join(', ') || 'none' }, 'reloaded the configuration');
    if (left.length > 0) {
      app.log.warn({ settings: left.join(', ') }, 'changed, and need a restart of the daemon');
      return;
    }
    const file = configurationFile(loaded);
    if (file !== null) await presence.tell(file);
  } catch (error) {
    if (error instanceof Refusal)
      app.log.error({ reason: error.message }, 'the configuration was not reloaded');
    else app.log.error({ err: error }, 'bug');
  }
}

/**
 * Ends the process in time, even if the database does not answer. Acknowledged data is stored by
 * then; other data is lost.
 */
function endInTime(app: App, code: number): void {
  const end = () => {
    app.log.warn('stopped before all data was stored');
    process.exit(code);
  };
  setTimeout(end, stopBudget).unref();
}

/** Throws the error again. If another idctl uses the address, the refusal says so. */
async function notTwice(error: unknown, listen: string): Promise<never> {
  if (!(error instanceof Refusal) || !(await isIdctlAt(listen))) throw error;
  throw new Refusal(error.code, `idctl is already running at ${listen}.`, {
    cause: error.cause,
    hint: {
      technical:
        'See it with: idctl status. It may be the daemon of another user. For a second daemon, set a different listen address in its idctl.yaml, or before the command: IDCTL_LISTEN=127.0.0.1:8430',
    },
  });
}

async function isIdctlAt(listen: string): Promise<boolean> {
  try {
    const place = listen.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, 'localhost');
    // No route has this path. idctl answers with its own problem object, even without its database.
    const answer = await fetch(`http://${place}/api/v1`, {
      redirect: 'error',
      signal: AbortSignal.timeout(2000),
    });
    return (await answer.text()).includes('"urn:idctl:problem:');
  } catch {
    return false;
  }
}

/** Opens the metrics on their own listener, if one is configured. */
async function openMetrics(app: App, hostPort: string | undefined): Promise<Metrics | null> {
  if (hostPort === undefined) return null;
  const { createMetrics } = await import('../../http/metrics.ts');
  const metrics = createMetrics(app);
  await metrics.listen(hostPort);
  app.log.info({ metrics: `${metrics.url}/metrics` }, 'listening');
  return metrics;
}

/** Reports the state to systemd, if systemd started the daemon (sd_notify). */
async function tellSystemd(app: App, state: string): Promise<void> {
  if (!process.env['NOTIFY_SOCKET']) return;
  try {
    await promisify(execFile)('systemd-notify', [state]);
  } catch (err) {
    app.log.warn({ err }, 'systemd was not notified');
  }
}
