import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Membership } from '../../../database/models/membership.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import type { EventData } from '../../foundation/events/kinds.ts';
import { type Happening, recordEvent } from '../../foundation/events/record.ts';
import { type Groups, takeAbsent } from '../../tenancy/sso/groups.ts';
import { replanPeople } from './apply.ts';
import { type GroupSource, ldapSource, ssoSource } from './source.ts';

// Syncs groups at a sign-in (spec §4.1 step 6), in a transaction after the session has begun. A
// failed sync never fails the sign-in: it becomes an event and a log line.

/** Syncs the groups that the provider sent at a single sign-on. */
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

/** Syncs the groups of the entry at an LDAP sign-in. Null means too many or incomplete groups. */
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
  await hold.accounts([accountId]);
  const identity = await Identity.findOne({ where: { connectionId: sync.source.id, accountId } });
  if (identity === null) return;
  const groups = sync.groups();
  const applies = sync.source.everyTime || identity.groupsSyncedAt === null;
  await identity.update({
    lastGroups: groups.known ? groups.groups : null,
    groupsSyncedAt: ctx.now,
    ...(applies && groups.known ? { knownGroups: groups.groups } : {}),
  });
  if (applies) await carryOut(ctx, sync.source, accountId, groups);
}

async function carryOut(ctx: Context, source: GroupSource, accountId: string, groups: Groups) {
  const { kind, organizationId } = source;
  if (groups.known) await replanPeople(ctx, organizationId, [accountId], kind);
  else if ((await Membership.count({ where: { organizationId, accountId } })) > 0)
    await record(ctx, 'unknown', source, accountId, { why: groups.why });
}

async function record<What extends 'unknown' | 'failed'>(
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
  // The group events of both kinds of connections have the same data.
  const happening = { kind: `${kind}.groups.${what}`, organizationId, subject, data } as Happening;
  await recordEvent(ctx, happening);
}
