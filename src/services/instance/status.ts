import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Organization } from '../../database/models/organization.ts';
import { Session } from '../../database/models/session.ts';
import { sizeOf } from '../../database/size.ts';
import { Refusal } from '../../errors.ts';
import { jsonIn } from '../../input.ts';
import { type Next, nextText, plainText, withMore } from '../../next.ts';
import { readVersion } from '../../version.ts';
import { instant } from '../foundation/fields.ts';
import { isMailConfigured } from '../foundation/mail/configured.ts';
import { operation } from '../foundation/operation.ts';
import { areLive } from '../people/sessions/live.sql.ts';
import { digestedFile, lookAtDaemons, tellElsewhere, tellOlder } from './daemons.ts';
import { servesAnother } from './doctor/machine.ts';
import { checkStored } from './doctor/organization.ts';
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
        : { ...asked, message: withMore(ended(asked.message), elsewhere) };
    const older = tellOlder(found);
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
        ...problems,
      ],
    };
  },
});

/** The message with a full stop, if it is a plain sentence without one. */
function ended(message: Next): Next {
  return typeof message === 'string' ? message.replace(/\.?$/, '.') : message;
}

/** The URL of the listen address. A daemon on all addresses also answers on loopback. */
function listenUrl(listen: string): string {
  return `http://${listen.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')}`;
}

const readiness = z.object({ writable: z.boolean() });

async function askDaemon(ctx: Context, address: string, idle: boolean) {
  const notReady = (message: Next) => ({ ready: false, writable: false, message });
  try {
    const { status, body } = await ctx.outbound.reach(`${address}/readyz`);
    if (status !== 200) return notReady(`not ready (HTTP ${status})`);
    if (await servesAnother(ctx, address, idle))
      return notReady('the daemon at this address uses another database');
    // A daemon of an older release may not report this.
    const writable = readiness.safeParse(jsonIn(body)).data?.writable ?? true;
    return { ready: true, writable, message: writable ? 'ready' : 'ready, but writes fail' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { host } = new URL(address);
    const stopped: Next = [`nothing listens on ${host}.`, { say: 'Start it', operation: 'serve' }];
    return notReady(error.failure?.reason === 'connection_refused' ? stopped : error.message);
  }
}

async function findProblems(ctx: Context): Promise<string[]> {
  const jump = await tellJump(ctx);
  const problems = jump === null ? [] : [`sweep: ${jump.message}`];
  for (const organization of await Organization.findAll({ order: ['id'] })) {
    for (const { name, ok, message } of await checkStored(ctx, organization)) {
      if (!ok) problems.push(`${name}: ${message}`);
    }
  }
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
    scim:
      row.scim === 0
        ? ('none' as const)
        : row.scimUsed === null
          ? ('unused' as const)
          : ('used' as const),
    lastSignInAt: row.lastSignIn?.toISOString() ?? null,
  }));
}

function stateOf(enabled: boolean | null) {
  if (enabled === null) return 'none' as const;
  return enabled ? ('enabled' as const) : ('saved' as const);
}
