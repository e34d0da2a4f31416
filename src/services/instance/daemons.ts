import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import { Op } from 'sequelize';
import { z } from 'zod';
import { hasUnit, restartDaemon } from '../../config/unit-credentials.ts';
import type { Context } from '../../context.ts';
import { Daemon } from '../../database/models/daemon.ts';
import { transaction, unsynced } from '../../database/transaction.ts';
import { remembered } from '../../host/memory.ts';
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
  /** The untrusted proxy through which requests come; null if none was seen. */
  proxy: string | null;
}

/** Resolves with the address of the first untrusted proxy whose request this process has seen. */
export const proxySeen = remembered(() => Promise.withResolvers<string>());

/** Stores a report that this daemon is running, and with which configuration. */
export async function announceDaemon(ctx: Context, daemon: RunningDaemon): Promise<void> {
  const { id, listen, configuration, proxy } = daemon;
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
      pid: process.pid,
      proxy,
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
 * file only after this action. `pids` are their processes, as far as known. Null if no daemon is
 * known.
 */
const daemonsFound = z
  .object({ state: z.enum(['current', 'reload', 'restart']), pids: z.array(z.int()) })
  .nullable();

/** A message if a daemon is running with an older configuration; otherwise null. */
export function tellOlder(
  found: z.output<typeof daemonsFound>,
): { message: string; hint: string } | null {
  if (found === null || found.state === 'current') return null;
  const message = 'The daemon is running with an older configuration.';
  const reload = hasUnit(process.env)
    ? 'systemctl reload idctl'
    : ['kill -HUP', ...found.pids].join(' ');
  const isReload = found.state === 'reload' && (hasUnit(process.env) || found.pids.length > 0);
  const restart = `${restartDaemon(process.env)}.`;
  return { message, hint: isReload ? `Reload the daemon: ${reload}` : restart };
}

/**
 * Warns if a daemon is reached through a proxy that is not in `http.trustedProxies`; otherwise
 * null.
 */
export async function tellProxy(
  ctx: Context,
): Promise<{ message: string; hint: { technical: string } } | null> {
  const alive = { [Op.gte]: after(ctx.now, -silentSeconds) };
  const where = { seenAt: alive, proxy: { [Op.ne]: null } };
  const address = (await Daemon.findOne({ where, order: ['id'] }))?.proxy ?? null;
  if (address === null) return null;
  const entry = address.includes(':') ? `'${address}'` : address;
  return {
    message: `Requests come through a proxy at ${address} that is not in http.trustedProxies, so all clients share its address and its limits.`,
    hint: {
      technical: `If this proxy is yours, set http.trustedProxies: [${entry}] in idctl.yaml, and restart the daemon.`,
    },
  };
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
    const ours = keyedDigest(ctx, configuration);
    const comparable = (await Daemon.findAll({ where })).filter(({ configDigest }) =>
      configDigest.startsWith(`${ctx.keyring.keyId}.`),
    );
    if (comparable.length === 0) return null;
    const older = comparable.filter(({ configDigest }) => configDigest !== ours);
    const pids = older.flatMap(({ pid }) => pid ?? []);
    if (older.length === 0) return { state: 'current' as const, pids };
    const isReload = older.every(({ configDigest }) => restOf(configDigest) === restOf(ours));
    return { state: isReload ? ('reload' as const) : ('restart' as const), pids };
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
