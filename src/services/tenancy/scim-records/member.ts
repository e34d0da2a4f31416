import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { inSlices } from '../../../host/queue.ts';
import { firstKey } from '../../foundation/page.ts';
import { memberResource, type Named } from '../../foundation/scim-user/resource.ts';
import {
  type Entry,
  findRecordNamed,
  findRecordOf,
  findUnadopted,
  findUnrecorded,
  type RecordedPerson,
  type Unrecorded,
} from './record.sql.ts';
import { awaitPlan, changeRecord, insertRecord, insertRecords } from './write.sql.ts';

// Every membership gets a record when it begins, however it begins. `active` says whether the
// membership still exists.

/** Makes sure that a new member has an active record. */
export async function recordMember(
  ctx: Context,
  organizationId: string,
  account: RecordedPerson,
): Promise<void> {
  const record = await findRecordOf(organizationId, account.id);
  if (record === null) await insertMemberRecord(organizationId, account, ctx.now);
  else if (!record.active || record.hidden) {
    const renamed = record.link === 'member' ? { resource: resourceIn(record, account) } : {};
    await changeRecord(ctx, record, { active: true, hidden: false, ...renamed });
    await awaitPlan(record.id);
  }
}

/** Writes records for new members that SCIM has not provisioned, in few statements. */
export function recordNewMembers(
  organizationId: string,
  accounts: RecordedPerson[],
  at: Date,
): Promise<void> {
  return inSlices(accounts, (some) =>
    insertRecords(
      some.map((account) => ({
        organizationId,
        accountId: account.id,
        link: 'member',
        resource: resourceOfMember(account),
        active: true,
        at,
      })),
    ),
  );
}

/** Marks the record of a former member inactive. */
export async function recordLeft(
  ctx: Context,
  organizationId: string,
  accountId: string,
): Promise<void> {
  const record = await findRecordOf(organizationId, accountId);
  if (record?.active) await changeRecord(ctx, record, { active: false });
}

/** Writes the record of a member that SCIM has not provisioned. */
async function insertMemberRecord(
  organizationId: string,
  account: RecordedPerson,
  at: Date,
): Promise<void> {
  const resource = resourceOfMember(account);
  // A client may have given this name to another person, who must not stop the member from joining.
  const taken = (await findRecordNamed(organizationId, resource.userName)) !== null;
  await insertRecord({
    organizationId,
    accountId: account.id,
    link: 'member',
    resource: taken ? { ...resource, userName: account.id } : resource,
    active: true,
    at,
  });
}

/**
 * Updates the name in records that no SCIM client has written: in active records, and in the record
 * of the organization `by`.
 */
export async function recordRenamed(
  ctx: Context,
  account: RecordedPerson,
  by: string | null = null,
): Promise<void> {
  const rows = await findUnadopted(account.id, by);
  for (const record of rows) {
    await changeRecord(ctx, record, { resource: resourceIn(record, account) });
  }
}

function resourceIn({ userName }: Entry, account: RecordedPerson): Named {
  return { ...resourceOfMember(account), userName };
}

function resourceOfMember({ id, email, name }: RecordedPerson): Named {
  return memberResource({ email: email ?? id, name });
}

const atOnce = 100;

/** Writes records for members who joined before records existed, dated the day they joined. */
export async function recordEarlierMembers(organizationId: string): Promise<void> {
  for (let after = firstKey, rows: Unrecorded[] = []; ; after = rows.at(-1)?.id ?? after) {
    rows = await transaction(async () => {
      const some = await findUnrecorded(organizationId, after, atOnce);
      for (const row of some) await insertMemberRecord(organizationId, row, row.joinedAt);
      return some;
    });
    if (rows.length < atOnce) return;
  }
}
