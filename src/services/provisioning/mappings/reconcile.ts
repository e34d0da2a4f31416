import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Membership, type Origin } from '../../../database/models/membership.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import type { EventData } from '../../foundation/events/kinds.ts';
import { type Happening, recordEvent } from '../../foundation/events/record.ts';
import { type Groups, takeAbsent } from './groups.ts';
import type { Because, Plan } from './plan.ts';
import { type GroupSource, ldapSource, readPlan, ssoSource } from './source.ts';

// Group sync at a sign-in (spec §4.1 step 6), in its own transaction after the session has begun.
// It never fails the sign-in: an error becomes an event and a log line.

/** Group sync at a single sign-on, with the groups that the provider sent. */
export async function syncGroups(
  ctx: Context,
  connectionId: string,
  accountId: string,
  said: Groups,
): Promise<void> {
  await syncSafely(ctx, accountId, async () => {
    const connection = await SsoConnection.findByPk(connectionId);
    if (connection === null) return null;
    const groups = () => takeAbsent(said, connection);
    return { source: ssoSource(connection), groups };
  });
}

/** Group sync at an LDAP sign-in, with the groups of the entry; null if there are too many. */
export async function syncDirectoryGroups(
  ctx: Context,
  connectionId: string,
  accountId: string,
  said: string[] | null,
): Promise<void> {
  const groups: Groups =
    said === null ? { known: false, why: 'too_many' } : { known: true, groups: said };
  await syncSafely(ctx, accountId, async () => {
    const connection = await LdapConnection.findByPk(connectionId);
    if (connection === null || connection.groupsAttribute === null) return null;
    return { source: ldapSource(connection), groups: () => groups };
  });
}

/** The groups of a sign-in. */
interface Sync {
  source: GroupSource;
  groups: () => Groups;
}

async function syncSafely(ctx: Context, accountId: string, find: () => Promise<Sync | null>) {
  try {
    await transaction(async () => reconcile(ctx, await find(), accountId));
  } catch (error) {
    ctx.log.error({ err: error }, 'group sync failed');
    const recording = transaction(async () => {
      const sync = await find();
      if (sync !== null) await record(ctx, 'failed', sync.source, accountId, {});
    });
    await recording.catch((second: unknown) => {
      ctx.log.error({ err: second }, 'the failure of a group sync was not recorded');
    });
  }
}

async function reconcile(ctx: Context, sync: Sync | null, accountId: string): Promise<void> {
  if (sync === null) return;
  const identity = await Identity.findOne({ where: { connectionId: sync.source.id, accountId } });
  if (identity === null) return;
  const groups = sync.groups();
  const isFirst = identity.groupsSyncedAt === null;
  await identity.update({
    lastGroups: groups.known ? groups.groups : null,
    groupsSyncedAt: ctx.now,
  });
  if (sync.source.everyTime || isFirst) await carryOut(ctx, sync.source, accountId, groups);
}

async function carryOut(ctx: Context, source: GroupSource, accountId: string, groups: Groups) {
  const { organizationId } = source;
  // Locked until the end, so that a person who is just being removed joins no project.
  const membership = await Membership.findOne({ where: { organizationId, accountId }, lock: true });
  if (membership === null) return;
  if (!groups.known) return record(ctx, 'unknown', source, accountId, { why: groups.why });
  const plan = await readPlan(source, accountId, groups.groups);
  await applyPlan(ctx, plan, { accountId, connectionId: source.id });
  const { adds, changes, removes } = plan;
  if (adds.length + changes.length + removes.length === 0) return;
  await record(ctx, 'synced', source, accountId, { adds, changes, removes });
}

/** Carries a plan out. A membership made manual in between stays manual (spec §3.3). */
async function applyPlan(
  ctx: Context,
  plan: Plan,
  of: { accountId: string; connectionId: string },
): Promise<void> {
  const { accountId } = of;
  const origin = (because: Because | null): Origin => ({
    kind: 'mapping',
    by: of.connectionId,
    ...because,
  });
  const joinedAt = ctx.now;
  await ProjectMembership.bulkCreate(
    plan.adds.map(({ projectId, role, because }) => {
      return { projectId, accountId, role, synced: true, origin: origin(because), joinedAt };
    }),
    { ignoreDuplicates: true },
  );
  for (const { projectId, role, because } of plan.changes) {
    const changed = { role, origin: origin(because) };
    await ProjectMembership.update(changed, { where: { projectId, accountId, synced: true } });
  }
  const projectId = plan.removes.map((entry) => entry.projectId);
  if (projectId.length > 0)
    await ProjectMembership.destroy({ where: { projectId, accountId, synced: true } });
}

async function record<What extends 'synced' | 'unknown' | 'failed'>(
  ctx: Context,
  what: What,
  { kind, organizationId }: GroupSource,
  accountId: string,
  data: EventData<`sso.groups.${What}`>,
): Promise<void> {
  const account = await Account.findByPk(accountId);
  const subject = {
    type: 'user',
    id: accountId,
    ...(account === null ? {} : { name: account.name }),
  };
  // Both kinds of connections record the same group events.
  const happening = { kind: `${kind}.groups.${what}`, organizationId, subject, data } as Happening;
  await recordEvent(ctx, happening);
}
