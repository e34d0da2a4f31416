import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Organization } from '../../database/models/organization.ts';
import { Session } from '../../database/models/session.ts';
import { sizeOf } from '../../database/size.ts';
import { inSlices } from '../../host/queue.ts';
import { nextText, partsOf, plainText, withMore } from '../../next.ts';
import { readVersion } from '../../version.ts';
import { instant } from '../foundation/fields.ts';
import { isMailConfigured } from '../foundation/mail/configured.ts';
import { operation } from '../foundation/operation.ts';
import { areLive } from '../people/sessions/live.sql.ts';
import { digestedFile, lookAtDaemons, tellElsewhere, tellOlder, tellProxy } from './daemons.ts';
import { failedFinding } from './doctor/check.ts';
import { servesAnother } from './doctor/machine.ts';
import { examineDaemon } from './doctor/network.ts';
import { checkStored } from './doctor/stored.ts';
import { tellJump } from './doctor/sweep.ts';
import { readLastMigration, summarizeOrganizations } from './instance.sql.ts';

/**
 * `idle`: no process has the database open, so any daemon that answers uses another database.
 * `here`: ask the daemon at its listen address on this machine.
 */
const statusInput = z.strictObject({
  idle: z.boolean().optional(),
  here: z.boolean().optional(),
  configuration: digestedFile.nullable().optional(),
});

const connection = z.enum(['none', 'saved', 'enabled']);

/** A summary of the instance. */
export const statusView = z.object({
  version: z.string(),
  baseUrl: z.string(),
  daemon: z.object({ ready: z.boolean(), writable: z.boolean(), message: nextText }),
  /** `bytes` is the size of the database on disk; `schema` is the last applied migration. */
  database: z.object({ bytes: z.int(), schema: z.string() }),
  mail: z.boolean(),
  people: z.int(),
  /** The number of sessions that have neither ended nor expired. */
  sessions: z.int(),
  organizations: z.array(
    z.object({
      slug: z.string(),
      name: z.string(),
      members: z.int(),
      owners: z.int(),
      domains: z.object({ verified: z.int(), pending: z.int() }),
      sso: connection,
      ldap: connection,
      scim: z.enum(['none', 'unused', 'used']),
      /** The last sign-in of any member, by any method, among the stored sessions. */
      lastSignInAt: instant.nullable(),
    }),
  ),
  /** The problems found, one line each. `doctor` checks more, and gives hints. */
  problems: z.array(z.string()),
});

/** Summarizes the instance and its problems. The only network request goes to the daemon. */
export const showStatus = operation({
  authority: 'operator',
  input: statusInput,
  output: statusView,
  run: async (ctx, { idle = false, here = false, configuration = null }) => {
    const address = here ? listenUrl(ctx.config.listen) : ctx.config.baseUrl;
    const [asked, elsewhere, organizations, problems, found] = await Promise.all([
      askDaemon(ctx, address, idle),
      idle ? null : tellElsewhere(ctx),
      countOrganizations(),
      findProblems(ctx),
      idle ? null : lookAtDaemons(ctx, { configuration }),
    ]);
    const daemon =
      asked.ready || elsewhere === null
        ? asked
        : { ...asked, message: withMore(asked.message, elsewhere) };
    const older = tellOlder(found);
    // Only now: the question above may be the first request through the proxy.
    const proxy = idle ? null : await tellProxy(ctx);
    return {
      version: readVersion(),
      baseUrl: ctx.config.baseUrl,
      daemon,
      database: {
        bytes: await sizeOf(ctx.config.database.url),
        schema: (await readLastMigration()) ?? 'none',
      },
      mail: isMailConfigured(ctx),
      people: await Account.count(),
      sessions: await Session.count({ where: areLive(ctx) }),
      organizations,
      problems: [
        ...(daemon.writable ? [] : [`daemon: ${plainText(daemon.message)}`]),
        ...(older === null ? [] : [`${older.message} ${older.hint}`]),
        ...(proxy === null ? [] : [`${proxy.message} ${proxy.hint.technical}`]),
        ...problems,
      ],
    };
  },
});

/** The message with a full stop. */
function ended(message: string): string {
  return message.replace(/\.?$/, '.');
}

/** The URL of the listen address. A daemon on all addresses also answers on loopback. */
function listenUrl(listen: string): string {
  return `http://${listen.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')}`;
}

/** The finding that `doctor` shows too. */
async function askDaemon(ctx: Context, address: string, idle: boolean) {
  const servesOther = () => servesAnother(ctx, address, idle);
  const finding = await examineDaemon(ctx, address, servesOther).catch(failedFinding);
  if (!finding.ok) {
    const message = withMore(ended(finding.seen), ...partsOf(finding.hint));
    return { ready: false, writable: false, message };
  }
  const { writable } = finding.value;
  return { ready: true, writable, message: writable ? 'ready' : 'ready, but writes fail' };
}

async function findProblems(ctx: Context): Promise<string[]> {
  const jump = await tellJump(ctx);
  const problems = jump === null ? [] : [`sweep: ${jump.message}`];
  await inSlices(await Organization.findAll({ order: ['id'] }), async (some) => {
    for (const { name, ok, message } of await checkStored(ctx, some))
      if (!ok) problems.push(`${name}: ${message}`);
  });
  return problems;
}

async function countOrganizations() {
  const rows = await summarizeOrganizations();
  return rows.map((row) => ({
    slug: row.slug,
    name: row.name,
    members: row.members,
    owners: row.owners,
    domains: { verified: row.verified, pending: row.pending },
    sso: stateOf(row.sso),
    ldap: stateOf(row.ldap),
    scim: row.scim
      ? row.scimUsed === null
        ? ('unused' as const)
        : ('used' as const)
      : ('none' as const),
    lastSignInAt: row.lastSignIn?.toISOString() ?? null,
  }));
}

function stateOf(enabled: boolean | null) {
  if (enabled === null) return 'none' as const;
  return enabled ? ('enabled' as const) : ('saved' as const);
}
