import { hostname } from 'node:os';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Daemon } from '../../../database/models/daemon.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { after } from '../../foundation/time.ts';
import { silentSeconds } from './announce.ts';
import { type ConfigurationFile, keyedDigest } from './digest.ts';

/** What a person is told of a daemon that has not read the configuration file as it is now. */
export const olderConfiguration = 'The daemon runs an older configuration.';
/** What to do then. */
export const restartIt = 'Restart it.';

/**
 * Whether the daemons of this machine that read this configuration file have read it as it is now; null where none is
 * known. After a change of the master key they are compared again once they have said that they follow it.
 */
export async function lookAtDaemons(
  ctx: Context,
  configuration: ConfigurationFile | null,
): Promise<'current' | 'older' | null> {
  requireOperator(ctx);
  if (configuration === null) return null;
  const alive = { [Op.gte]: after(ctx.now, -silentSeconds) };
  const where = { host: hostname(), configFile: configuration.file, seenAt: alive };
  const digests = (await Daemon.findAll({ where })).map(({ configDigest }) => configDigest);
  const ours = keyedDigest(ctx, configuration);
  const comparable = digests.filter((digest) => digest.startsWith(`${ctx.keyring.keyId}.`));
  if (comparable.length === 0) return null;
  return comparable.every((digest) => digest === ours) ? 'current' : 'older';
}
