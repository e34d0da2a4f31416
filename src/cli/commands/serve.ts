import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { LoadedConfig } from '../../config/load.ts';
import type { App } from '../../context.ts';
import type { Metrics } from '../../http/metrics.ts';
import { verb } from '../command.ts';
import { becomeDatabaseOwner, readConfiguration } from '../operator.ts';
import type { Call } from '../run.ts';

/** How long requests in flight may take to end, in milliseconds. */
const drainBudget = 7000;
/** When everything is over after a signal, in milliseconds, whatever still hangs. */
const stopBudget = 8000;

/** Declares `idctl serve`. */
export function addServeCommand(program: Command): void {
  verb(program, 'serve', {
    summary: 'Run the daemon: migrate, serve, and drain on SIGTERM',
    options: { '--listen <host:port>': 'where to listen (default: 127.0.0.1:8420)' },
    example: 'idctl serve --listen 127.0.0.1:8420',
    run: serve,
  });
}

async function serve(call: Call): Promise<void> {
  const { listen } = call.input;
  const overrides = typeof listen === 'string' ? { listen } : {};
  const loaded = await readConfiguration(call.flags, { overrides });
  becomeDatabaseOwner(loaded);
  const { openApp } = await import('../../app.ts');
  const app = await openApp(loaded, { migrate: 'yes' });
  try {
    process.on('uncaughtExceptionMonitor', (err) => app.log.fatal({ err }, 'bug'));
    for (const warning of loaded.warnings) app.log.warn(warning);
    await serveUntilSignal(call, loaded, app);
  } finally {
    await app.close();
  }
}

async function serveUntilSignal(call: Call, { config }: LoadedConfig, app: App): Promise<void> {
  const [{ createServer }, { surface }, { startJobs }] = await Promise.all([
    import('../../http/server.ts'),
    import('../../http/surface.ts'),
    import('../../jobs/scheduler.ts'),
    app.passwords.ready(),
  ]);
  const metrics = await openMetrics(app, config.metrics.listen);
  const server = createServer(app, { ...surface, ...(metrics ? { watch: metrics.watch } : {}) });
  await server.listen(config.listen);
  const stopJobs = startJobs(app);
  // Caught before anybody is told that there is something to stop.
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  if (process.stderr.isTTY) call.note(`idctl: listening on ${server.url}, reached at ${config.baseUrl}`);
  else app.log.info({ listen: server.url, baseUrl: config.baseUrl, pid: process.pid }, 'listening');
  await tellSystemd(app, 'READY=1');
  await stopped;
  endInTime(app);
  await tellSystemd(app, 'STOPPING=1');
  await server.close(drainBudget);
  await metrics?.close();
  // After the last request, which leaves something to write down too.
  await stopJobs();
  app.log.info('stopped');
}

/** A database that does not answer must not keep the process: what is acknowledged is there, the rest is given up. */
function endInTime(app: App): void {
  const end = () => {
    app.log.warn('stopped before everything was written down');
    process.exit(0);
  };
  setTimeout(end, stopBudget).unref();
}

/** The metrics on their own listener, when there is to be one. */
async function openMetrics(app: App, hostPort: string | undefined): Promise<Metrics | null> {
  if (hostPort === undefined) return null;
  const { createMetrics } = await import('../../http/metrics.ts');
  const metrics = createMetrics(app);
  await metrics.listen(hostPort);
  app.log.info({ metrics: `${metrics.url}/metrics` }, 'listening');
  return metrics;
}

/** Tells systemd, when it has started us, how far we are (sd_notify). */
async function tellSystemd(app: App, state: string): Promise<void> {
  if (!process.env['NOTIFY_SOCKET']) return;
  try {
    await promisify(execFile)('systemd-notify', [state]);
  } catch (err) {
    app.log.warn({ err }, 'systemd was not notified');
  }
}
