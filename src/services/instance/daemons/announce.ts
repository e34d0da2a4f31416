import { hostname } from 'node:os';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Daemon } from '../../../database/models/daemon.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { after } from '../../foundation/time.ts';
import { type ConfigurationFile, keyedDigest } from './digest.ts';

/** How often a daemon reports that it runs. */
export const announceSeconds = 60;
/** After this silence a daemon counts as killed. */
export const silentSeconds = 150;

/** A daemon's report about itself to the commands. */
export interface RunningDaemon {
  id: string;
  listen: string;
  configuration: ConfigurationFile;
}

/**
 * Reports to the commands that this daemon runs, and with which configuration. Call it regularly.
 */
export async function announceDaemon(ctx: Context, daemon: RunningDaemon): Promise<void> {
  const { id, listen, configuration } = daemon;
  const host = hostname();
  await unsynced(async () => {
    // Only one process can listen at an address, so an earlier daemon there ended without reporting
    // it.
    await Daemon.destroy({ where: { id: { [Op.ne]: id }, host, listen } });
    await Daemon.destroy({ where: { seenAt: { [Op.lt]: after(ctx.now, -silentSeconds) } } });
    const configDigest = keyedDigest(ctx, configuration);
    await Daemon.upsert({
      id,
      host,
      listen,
      configFile: configuration.file,
      configDigest,
      seenAt: ctx.now,
    });
  });
}

/** Reports to the commands that this daemon stops. */
export async function dismissDaemon({ id }: Pick<RunningDaemon, 'id'>): Promise<void> {
  await transaction(async () => {
    await Daemon.destroy({ where: { id } });
  });
}
