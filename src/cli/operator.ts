import type { LoadedConfig, LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { type App, type Context, openContext } from '../context.ts';
import type { Flags } from './flags.ts';
import { becomeOwnerOf, databaseFile, operatorName } from './owner.ts';

/** The App, opened for one command, and the operator's contexts in it. */
export interface Operator {
  app: App;
  /** A context of this instant. */
  context: () => Context;
}

/** The configuration that the command line, the environment and the file give. */
export async function readConfiguration(
  flags: Flags,
  more: Partial<LoadOptions> = {},
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({ file: flags.config, env: process.env, uid: process.getuid?.() ?? -1, ...more });
}

/** Root becomes the owner of an embedded database, for good (security X8). */
export function becomeDatabaseOwner({ config }: LoadedConfig): void {
  const file = databaseFile(config.database.url);
  if (file !== null) becomeOwnerOf(file);
}

/** Opens the instance as its operator; with `migrate`, brings its database up to date first. */
export async function openOperator(loaded: LoadedConfig, migrate = false): Promise<Operator> {
  const { openApp } = await import('../app.ts');
  const name = operatorName();
  becomeDatabaseOwner(loaded);
  const config = { ...loaded.config, log: { level: quieter(loaded.config.log.level) } };
  const app = await openApp({ config }, { migrate: migrate ? 'yes' : 'refuse-pending' });
  return { app, context: () => openContext(app, { kind: 'operator', name }) };
}

/** A command answers on its own; the log is the daemon's, but for what went wrong. */
function quieter(level: Config['log']['level']): Config['log']['level'] {
  return level === 'info' ? 'warn' : level;
}
