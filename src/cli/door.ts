import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { type Environment, searchedFiles, serversFile } from '../config/paths.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { parse } from '../input.ts';
import { type Flags, type Operator, openOperator, readConfiguration } from './operator.ts';
import { onlyOnHost, reachOf } from './reach.ts';
import type { CommandDoor, Runs } from './run.ts';

/** Chooses where a command runs: in the instance on this host, or on a remote server. */
export async function openDoor(flags: Flags, command: Command): Promise<CommandDoor> {
  const reach = reachOf(command);
  const { env } = process;
  if (reach === 'anywhere' || isLocal(flags, env)) return localDoor(flags);
  const named = flags.server ?? env['IDCTL_SERVER'];
  if (named && reach === 'host') throw onlyOnHost(hostHint);
  const { namedServer, serverInUse } = await import('./remote/find.ts');
  const server = await (named ? namedServer(flags, env) : serverInUse(env));
  if (server === null) return localDoor(flags, await storedNames(env));
  if (reach === 'host') throw onlyOnHost(hostHint);
  const { remoteDoor } = await import('./remote/door.ts');
  if (process.stderr.isTTY && !flags.quiet) process.stderr.write(`Server: ${server.url}\n`);
  return remoteDoor(server);
}

const hostHint =
  'Run the command there. For an instance on this host, name its configuration: --config FILE';

/** Whether the command runs here: no server is named, and there is a configuration or no login. */
export function isLocal(
  { server, config }: Pick<Flags, 'server' | 'config'>,
  env: Environment,
): boolean {
  if (server !== undefined || env['IDCTL_SERVER']) return false;
  const named = ['IDCTL_CONFIG', 'IDCTL_DATABASE', 'IDCTL_DATABASE_URL'].some((one) => env[one]);
  if (config !== undefined || named) return true;
  return searchedFiles(env).some((file) => existsSync(file)) || !existsSync(serversFile(env));
}

async function storedNames(env: Environment): Promise<string> {
  const { readServers } = await import('./remote/servers.ts');
  return (await readServers(env)).map(({ name }) => name).join(', ');
}

/** Adds the stored servers to the refusal that there is no instance on this host. */
function tellStored(error: unknown, stored: string): unknown {
  if (stored === '' || !(error instanceof Refusal) || error.code !== 'not_ready') return error;
  const hint = {
    technical: `No server is in use. To choose one of ${stored}: idctl server use NAME`,
  };
  return new Refusal(error.code, error.message, { hint });
}

/** Runs operations here, as the operator. If there is no instance, names the `stored` servers. */
function localDoor(flags: Flags, stored = ''): CommandDoor {
  let loaded: Promise<LoadedConfig> | undefined;
  let opened: Promise<Operator> | undefined;
  const configuration = () => {
    loaded ??= readConfiguration(flags);
    return loaded;
  };
  const operator = (): Promise<Operator> => {
    opened ??= configuration()
      .then((found) => openOperator(found))
      .catch((error: unknown) => {
        throw tellStored(error, stored);
      });
    return opened;
  };
  const perform = async <View>(
    operation: Runs<View>,
    given: unknown,
    work: (ctx: Context, input: never) => Promise<View>,
  ) => {
    const checked = parse(operation.input, given);
    const { run } = await operator();
    // The cast is safe: the operation's own schema has checked the input.
    const view = await run((ctx) => work(ctx, checked as never));
    // As over HTTP, the schema drops unknown fields and orders the rest. The type stays the same.
    return (operation.output?.parse(view) ?? view) as typeof view;
  };
  const operate: CommandDoor['operate'] = (operation, given) =>
    perform(operation, given, operation);
  return {
    server: null,
    configuration,
    operate,
    rehearse: async (operation, given) => {
      if (operation.rehearse !== undefined) return perform(operation, given, operation.rehearse);
      parse(operation.input, given);
      const { app } = await operator();
      return app.rehearse(() => operate(operation, given));
    },
    close: async () => {
      const ended = await opened?.catch(() => undefined);
      await ended?.app.close();
    },
  };
}
