import type { Context } from '../../../context.ts';
import { execute, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { inSlices } from '../../../host/queue.ts';
import { firstKey } from '../../foundation/page.ts';
import { memberResource, type Named } from '../../foundation/scim-user/resource.ts';
import {
  columns,
  type Entry,
  findRecordNamed,
  findRecordOf,
  kinds,
  type RecordedPerson,
} from './record.ts';
import { changeRecord, insertRecord, insertRecords } from './write.ts';

// Every membership gets a record when it begins, however it begins. `active` tells whether the
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

/** Queues a returning person for the job that plans the roles of their groups. */
async function awaitPlan(recordId: string): Promise<void> {
  await execute(
    `INSERT INTO scim_replans (organization_id, account_id)
     SELECT r.organization_id, r.account_id FROM scim_records r
      WHERE r.id = $1 AND EXISTS (SELECT 1 FROM scim_group_members WHERE record_id = r.id)
     ON CONFLICT (organization_id, account_id) DO NOTHING`,
    [recordId],
  );
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
  const rows = await select<Entry>(
    `SELECT ${columns} FROM scim_records r WHERE r.account_id = $1 AND r.link = $2
        AND (r.active = $3 OR r.organization_id = $4)`,
    [account.id, 'member', true, by],
    { columns: kinds },
  );
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

interface Unrecorded {
  id: string;
  email: string | null;
  name: string;
  joined_at: Date;
}

const atOnce = 100;

/** Writes records for members who joined before records existed, dated the day they joined. */
export async function recordEarlierMembers(organizationId: string): Promise<void> {
  for (let after = firstKey, rows: Unrecorded[] = []; ; after = rows.at(-1)?.id ?? after) {
    rows = await transaction(async () => {
      const some = await findUnrecorded(organizationId, after);
      for (const row of some) await insertMemberRecord(organizationId, row, row.joined_at);
      return some;
    });
    if (rows.length < atOnce) return;
  }
}

function findUnrecorded(organizationId: string, after: string): Promise<Unrecorded[]> {
  return select<Unrecorded>(
    `SELECT a.id, a.email, a.name, m.joined_at
       FROM memberships m JOIN accounts a ON a.id = m.account_id
       LEFT JOIN scim_records r ON r.account_id = m.account_id AND r.organization_id = m.organization_id
      WHERE m.organization_id = $1 AND m.account_id > $2 AND r.id IS NULL
      ORDER BY m.account_id LIMIT ${atOnce}`,
    [organizationId, after],
    { columns: { joined_at: 'time' } },
  );
}
