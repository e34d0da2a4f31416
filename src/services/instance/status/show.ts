import { statSync } from 'node:fs';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Session } from '../../../database/models/session.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';
import { Refusal } from '../../../errors.ts';
import { readVersion } from '../../../version.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { operation } from '../../foundation/operation.ts';
import { lookAtDaemons, tellOlder } from '../daemons/look.ts';
import { servesAnother } from '../doctor/daemon.ts';
import { checkStored } from '../doctor/organization.ts';
import { countOrganizations } from './organizations.ts';
import { statusInput, statusView } from './schema.ts';

/**
 * A summary of the instance, with the problems that show without any network request except to the
 * daemon.
 */
export const showStatus = operation({
  authority: 'operator',
  input: statusInput,
  output: statusView,
  run: async (ctx, { idle = false, configuration = null }) => {
    const [daemon, organizations, problems, found] = await Promise.all([
      askDaemon(ctx, idle),
      countOrganizations(),
      findProblems(ctx),
      idle ? null : lookAtDaemons(ctx, { configuration }),
    ]);
    const older = tellOlder(found);
    return {
      version: readVersion(),
      baseUrl: ctx.config.baseUrl,
      daemon,
      database: { bytes: await sizeOf(ctx.config.database.url), schema: await lastMigration() },
      mail: isMailConfigured(ctx),
      people: await Account.count(),
      sessions: await Session.count({ where: { endedAt: null, expiresAt: { [Op.gt]: ctx.now } } }),
      organizations,
      problems: [
        ...(daemon.ready ? [] : [`daemon: ${daemon.message}`]),
        ...(older === null ? [] : [`${older.message} ${older.hint}`]),
        ...problems,
      ],
    };
  },
});

async function askDaemon(ctx: Context, idle: boolean) {
  try {
    const { status } = await ctx.outbound.reach(`${ctx.config.baseUrl}/readyz`);
    if (status !== 200) return { ready: false, message: `not ready (HTTP ${status})` };
    return (await servesAnother(ctx, idle))
      ? { ready: false, message: 'the one at this address serves another database' }
      : { ready: true, message: 'ready' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { host } = new URL(ctx.config.baseUrl);
    const stopped = `nothing listens on ${host}. Start it: idctl serve`;
    const message = error.extra['reason'] === 'connection_refused' ? stopped : error.message;
    return { ready: false, message };
  }
}

async function findProblems(ctx: Context): Promise<string[]> {
  const problems: string[] = [];
  for (const organization of await Organization.findAll({ order: ['id'] })) {
    for (const { name, ok, message } of await checkStored(ctx, organization)) {
      if (!ok) problems.push(`${name}: ${message}`);
    }
  }
  return problems;
}

/** The size of an embedded database with its journal, or of a server's tables and indexes. */
async function sizeOf(url: string): Promise<number> {
  if (dialectOfDatabase() === 'postgres') {
    const [row] = await select<{ size: string }>(
      'SELECT pg_database_size(current_database()) AS size',
      [],
    );
    return Number(row?.size);
  }
  const file = url.replace(/^sqlite:(\/\/)?/, '');
  const sizes = [file, `${file}-wal`].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function lastMigration(): Promise<string> {
  const [row] = await select<{ name: string }>('SELECT MAX(name) AS name FROM migrations', []);
  return row?.name ?? 'none';
}
