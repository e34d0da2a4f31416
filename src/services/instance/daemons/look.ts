import { hostname } from 'node:os';
import { Op } from 'sequelize';
import { z } from 'zod';
import { hasUnit } from '../../../config/unit-credentials.ts';
import { Daemon } from '../../../database/models/daemon.ts';
import { operation } from '../../foundation/operation.ts';
import { after } from '../../foundation/time.ts';
import { silentSeconds } from './announce.ts';
import { digestedFile, keyedDigest, restOf } from './digest.ts';

/**
 * Whether the daemons have read the file in its current state, or what makes them read it. Null if
 * no daemon is known.
 */
const daemonsFound = z.enum(['current', 'reload', 'restart']).nullable();

/** The message about a daemon with an older configuration; null otherwise. */
export function tellOlder(
  found: z.output<typeof daemonsFound>,
): { message: string; hint: string } | null {
  if (found === null || found === 'current') return null;
  const reload = hasUnit(process.env)
    ? 'systemctl reload idctl'
    : 'kill -HUP PID (the log names the PID)';
  const hint = found === 'reload' ? `Reload it: ${reload}` : 'Restart it.';
  return { message: 'The daemon runs an older configuration.', hint };
}

/**
 * Whether this machine's daemons with this configuration file have read it in its current state.
 * After a master key change they are compared again once they have reported the new key.
 */
export const lookAtDaemons = operation({
  authority: 'operator',
  input: z.strictObject({ configuration: digestedFile.nullable() }),
  output: daemonsFound,
  run: async (ctx, { configuration }) => {
    if (configuration === null) return null;
    const alive = { [Op.gte]: after(ctx.now, -silentSeconds) };
    const where = { host: hostname(), configFile: configuration.file, seenAt: alive };
    const digests = (await Daemon.findAll({ where })).map(({ configDigest }) => configDigest);
    const ours = keyedDigest(ctx, configuration);
    const comparable = digests.filter((digest) => digest.startsWith(`${ctx.keyring.keyId}.`));
    if (comparable.length === 0) return null;
    if (comparable.every((digest) => digest === ours)) return 'current';
    return comparable.every((digest) => restOf(digest) === restOf(ours)) ? 'reload' : 'restart';
  },
});
