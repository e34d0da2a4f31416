import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import { Op } from 'sequelize';
import { z } from 'zod';
import { hasUnit } from '../../config/unit-credentials.ts';
import type { Context } from '../../context.ts';
import { Daemon } from '../../database/models/daemon.ts';
import { transaction, unsynced } from '../../database/transaction.ts';
import { farSeconds } from '../foundation/clock/judge.ts';
import { operation } from '../foundation/operation.ts';
import { after } from '../foundation/time.ts';

/** The time between two reports of a daemon. */
export const announceSeconds = 60;
/** A daemon that has not reported for longer than this counts as ended. */
export const silentSeconds = 150;

/** A configuration file as read, with digests of its contents and its restart-only settings. */
export const digestedFile = z.strictObject({
  file: z.string(),
  digest: z.string(),
  restDigest: z.string(),
});
export type ConfigurationFile = z.output<typeof digestedFile>;

/** A daemon's report to the commands. */
export interface RunningDaemon {
  id: string;
  listen: string;
  configuration: ConfigurationFile;
}

/** Stores a report that this daemon is running, and with which configuration. */
export async function announceDaemon(ctx: Context, daemon: RunningDaemon): Promise<void> {
  const { id, listen, configuration } = daemon;
  const host = hostname();
  await unsynced(async () => {
    // Only one process can listen on an address, so an earlier daemon on this address has ended.
    await Daemon.destroy({ where: { id: { [Op.ne]: id }, host, listen } });
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

/**
 * Deletes the reports of daemons that have ended. A report from the far future was written with
 * another clock: if its daemon is still running, it reports again within a minute.
 */
export async function sweepDaemons(ctx: Context): Promise<void> {
  const ended = { [Op.lt]: after(ctx.now, -silentSeconds) };
  const ahead = { [Op.gt]: after(ctx.now, farSeconds) };
  await unsynced(() => Daemon.destroy({ where: { seenAt: { [Op.or]: [ended, ahead] } } }));
}

/** The daemon whose clock is far ahead of this one; null if there is none. */
export async function findDaemonAhead({ now }: Pick<Context, 'now'>): Promise<Daemon | null> {
  return Daemon.findOne({
    where: { seenAt: { [Op.gt]: after(now, farSeconds) } },
    order: [['seenAt', 'DESC']],
  });
}

/** Deletes the report of this daemon. Call it when the daemon stops. */
export async function dismissDaemon({ id }: Pick<RunningDaemon, 'id'>): Promise<void> {
  await transaction(async () => {
    await Daemon.destroy({ where: { id } });
  });
}

/**
 * If daemons of this database are running on this machine, but not on the port that this command
 * expects, says where one of them listens. Otherwise null.
 */
export async function tellElsewhere(ctx: Context): Promise<string | null> {
  const alive = { [Op.gte]: after(ctx.now, -silentSeconds) };
  const daemons = await Daemon.findAll({ where: { host: hostname(), seenAt: alive } });
  const ports = daemons.map(({ listen }) => portOf(listen));
  const [daemon] = daemons;
  if (daemon === undefined || ports.includes(portOf(ctx.config.listen))) return null;
  return `A daemon of this database listens on ${daemon.listen}. Run this command with the same listen (IDCTL_LISTEN) and baseUrl.`;
}

/** The port of a host and port. */
export function portOf(place: string): string {
  return place.slice(place.lastIndexOf(':') + 1);
}

/**
 * `current`: the daemons have read the current file. `reload` and `restart`: the daemons read the
 * file only after this action. Null if no daemon is known.
 */
const daemonsFound = z.enum(['current', 'reload', 'restart']).nullable();

/** A message if a daemon is running with an older configuration; otherwise null. */
export function tellOlder(
  found: z.output<typeof daemonsFound>,
): { message: string; hint: string } | null {
  if (found === null || found === 'current') return null;
  const reload = hasUnit(process.env)
    ? 'systemctl reload idctl'
    : 'kill -HUP PID (the log names the PID)';
  const hint = found === 'reload' ? `Reload the daemon: ${reload}` : 'Restart the daemon.';
  return { message: 'The daemon is running with an older configuration.', hint };
}

/**
 * Whether the daemons on this machine have read the current configuration file. After a change of
 * the master key, a daemon counts again once it has reported under the new key.
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

/** The stored form of the digests. It is keyed: the file may contain a guessable password. */
function keyedDigest({ keyring }: Pick<Context, 'keyring'>, read: ConfigurationFile): string {
  const key = keyring.derive('configuration digest');
  const keyed = (digest: string) => createHmac('sha256', key).update(digest).digest('base64url');
  return `${keyring.keyId}.${keyed(read.digest)}.${keyed(read.restDigest)}`;
}

/** The digest of the restart-only settings; undefined in a report of an older idctl. */
function restOf(keyed: string): string | undefined {
  return keyed.split('.')[2];
}
