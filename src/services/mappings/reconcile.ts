import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { Membership } from '../../database/models/membership.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { transaction } from '../../database/transaction.ts';
import type { Proof } from '../../outbound/outbound.ts';
import { recordEvent } from '../events/record.ts';
import { applyPlan } from './apply.ts';
import { type Groups, readGroups } from './groups.ts';
import { planMemberships } from './plan.ts';
import { readCurrent, readMappings } from './read.ts';

/**
 * Group sync at a sign-in (spec §4.1 step 6), in a transaction of its own after the session has begun.
 * It never fails the sign-in: what goes wrong is an event and a line in the log.
 */
export async function syncGroups(
  ctx: Context,
  connectionId: string,
  accountId: string,
  proof: Proof,
): Promise<void> {
  try {
    await transaction(() => reconcile(ctx, connectionId, accountId, proof));
  } catch (error) {
    ctx.log.error({ err: error }, 'group sync failed');
    await transaction(() => recordFailure(ctx, connectionId, accountId)).catch((second: unknown) => {
      ctx.log.error({ err: second }, 'the failure of a group sync was not recorded');
    });
  }
}

async function reconcile(ctx: Context, connectionId: string, accountId: string, proof: Proof): Promise<void> {
  const connection = await SsoConnection.findByPk(connectionId);
  const identity = await Identity.findOne({ where: { connectionId, accountId } });
  if (connection === null || identity === null) return;
  const groups = readGroups(proof, connection);
  const isFirst = identity.groupsSyncedAt === null;
  await identity.update({ lastGroups: groups.known ? groups.groups : null, groupsSyncedAt: ctx.now });
  if (connection.syncOnLogin || isFirst) await carryOut(ctx, connection, accountId, groups);
}

async function carryOut(
  ctx: Context,
  connection: SsoConnection,
  accountId: string,
  groups: Groups,
): Promise<void> {
  const { organizationId, autoRemove } = connection;
  // Held until the end, so that nobody who is just being taken out is put into a project.
  const membership = await Membership.findOne({ where: { organizationId, accountId }, lock: true });
  if (membership === null) return;
  if (!groups.known) {
    await record(ctx, 'sso.groups.unknown', organizationId, accountId, { why: groups.why });
    return;
  }
  const mappings = await readMappings(organizationId);
  const plan = planMemberships(groups.groups, mappings, await readCurrent(organizationId, accountId), {
    autoRemove,
  });
  await applyPlan(ctx, plan, { accountId, connectionId: connection.id });
  const { adds, changes, removes } = plan;
  if (adds.length + changes.length + removes.length === 0) return;
  await record(ctx, 'sso.groups.synced', organizationId, accountId, { adds, changes, removes });
}

async function recordFailure(ctx: Context, connectionId: string, accountId: string): Promise<void> {
  const connection = await SsoConnection.findByPk(connectionId);
  if (connection !== null) await record(ctx, 'sso.groups.failed', connection.organizationId, accountId, {});
}

async function record(
  ctx: Context,
  kind: string,
  organizationId: string,
  accountId: string,
  data: Record<string, unknown>,
): Promise<void> {
  const account = await Account.findByPk(accountId);
  const subject = { type: 'user', id: accountId, ...(account === null ? {} : { name: account.name }) };
  await recordEvent(ctx, { kind, organizationId, subject, data });
}
