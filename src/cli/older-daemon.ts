import type { LoadedConfig } from '../config/load.ts';
import type { ConfigurationFile } from '../services/instance/daemons.ts';
import { commandText } from './next.ts';
import type { Call } from './run.ts';

/** The configuration file of this command, to compare with the daemon's; null if there is none. */
export function configurationFile({
  file,
  digest,
  restDigest,
}: LoadedConfig): ConfigurationFile | null {
  return file === null || digest === null || restDigest === null
    ? null
    : { file, digest, restDigest };
}

/** Warns if the daemon has an older configuration: it may fail where this command succeeds. */
export async function tellOlderDaemon(call: Call): Promise<void> {
  // On a remote server, the daemon itself ran the operation.
  if (call.server !== null) return;
  const { lookAtDaemons, tellOlder } = await import('../services/instance/daemons.ts');
  const configuration = configurationFile(await call.configuration());
  const found = await call.operate(lookAtDaemons, { configuration });
  const older = tellOlder(found);
  if (older !== null) call.note(`${older.message} ${commandText(older.hint)}`);
}
