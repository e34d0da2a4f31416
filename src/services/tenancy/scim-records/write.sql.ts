import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { passing } from '../../../database/hold-rows.ts';
import type { RecordLink } from '../../../database/models/scim-record.ts';
import { execute, insertRow, insertRows, select, selectAmong } from '../../../database/select.ts';
import { fold } from '../../foundation/scim-user/names.ts';
import { type Named, resourceOf } from '../../foundation/scim-user/resource.ts';
import { searchDocument, searchEmails } from '../../foundation/scim-user/search.ts';
import type { Entry } from './record.sql.ts';

// Records are written only here, so that the lookup columns agree with the stored resource.

interface NewRecord {
  organizationId: string;
  accountId: string;
  link: RecordLink;
  resource: Named;
  active: boolean;
  at: Date;
}

/** Writes a new record. Call it inside the transaction of the change that it records. */
export async function insertRecord(given: NewRecord): Promise<Entry> {
  const { at, resource, ...whose } = given;
  const row = rowOf(given);
  await insertRow('scim_records', row);
  await insertEmails({ id: row.id, organizationId: whose.organizationId }, searchEmails(resource));
  return {
    ...whose,
    id: row.id,
    userName: row.user_name,
    resource: row.resource,
    hidden: false,
    version: 1,
    createdAt: at,
    modifiedAt: at,
  };
}

/** Writes new records, like `insertRecord`, in few statements. */
export async function insertRecords(given: NewRecord[]): Promise<void> {
  const rows = given.map((record) => ({
    row: rowOf(record),
    emails: searchEmails(record.resource),
  }));
  await insertRows(
    'scim_records',
    rows.map(({ row }) => row),
  );
  await insertRows(
    'scim_emails',
    rows.flatMap(({ row, emails }) =>
      emails.map((value_canonical) => {
        return { record_id: row.id, organization_id: row.organization_id, value_canonical };
      }),
    ),
  );
}

function rowOf({ organizationId, accountId, link, resource, active, at }: NewRecord) {
  return {
    id: orderedId(),
    organization_id: organizationId,
    account_id: accountId,
    link,
    active,
    hidden: false,
    version: 1,
    created_at: at,
    modified_at: at,
    ...lookedUpBy(resource),
  };
}

/** The fields to change of a record. */
export interface RecordChange {
  resource?: Named;
  active?: boolean;
  hidden?: boolean;
  link?: RecordLink;
}

/** Changes a locked record, and raises its version by one. */
export async function changeRecord(
  ctx: Context,
  record: Entry,
  change: RecordChange,
): Promise<void> {
  const { resource, ...rest } = change;
  if (rest.hidden !== undefined && rest.hidden !== record.hidden)
    await shiftList(record.organizationId);
  if (resource !== undefined) await replaceEmails(record, resource);
  const written = resource === undefined ? {} : lookedUpBy(resource);
  const changed = { ...rest, ...written, version: record.version + 1, modified_at: ctx.now };
  const columns = Object.keys(changed).map((column, at) => `${column} = $${at + 2}`);
  await execute(`UPDATE scim_records SET ${columns.join(', ')} WHERE id = $1`, [
    record.id,
    ...Object.values(changed),
  ]);
  Object.assign(record, rest, { version: changed.version, modifiedAt: ctx.now });
  if (resource !== undefined) {
    Object.assign(record, { userName: resource.userName, resource: JSON.stringify(resource) });
  }
}

/**
 * Removes an account from its SCIM groups, and records that its SCIM lists have shifted. Call it
 * before you delete the account.
 */
export async function forgetRecords(ctx: Context, accountId: string): Promise<void> {
  const records = await select<{ id: string; organization_id: string; hidden: boolean }>(
    'SELECT id, organization_id, hidden FROM scim_records WHERE account_id = $1 ORDER BY organization_id',
    [accountId],
    { columns: { hidden: 'flag' } },
  );
  for (const { organization_id, hidden } of records) if (!hidden) await shiftList(organization_id);
  await leaveGroups(
    ctx,
    records.map(({ id }) => id),
  );
}

/** Removes people whose records are deleted or hidden from all SCIM groups. */
export async function leaveGroups(ctx: Context, recordIds: string[]): Promise<void> {
  const left = await selectAmong<{ id: string }>(
    recordIds,
    (list) =>
      `DELETE FROM scim_group_members WHERE record_id IN (${list}) RETURNING group_id AS id`,
  );
  // Skips groups that a push has locked. The push raises their versions itself, and it may be
  // waiting for this person's account.
  await selectAmong(
    left.map(({ id }) => id),
    (list, now) => `UPDATE scim_groups SET version = version + 1, modified_at = ${now}
      WHERE id IN (SELECT id FROM scim_groups WHERE id IN (${list}) ${passing()}) RETURNING 1`,
    [ctx.now],
  );
}

/** Queues a returning person for the job that recomputes roles from groups. */
export async function awaitPlan(recordId: string): Promise<void> {
  await execute(
    `INSERT INTO scim_replans (organization_id, account_id)
     SELECT r.organization_id, r.account_id FROM scim_records r
      WHERE r.id = $1 AND EXISTS (SELECT 1 FROM scim_group_members WHERE record_id = r.id)
     ON CONFLICT (organization_id, account_id) DO NOTHING`,
    [recordId],
  );
}

/** Records that positions in a list have shifted, so that remembered positions are read again. */
async function shiftList(organizationId: string): Promise<void> {
  await execute(
    `INSERT INTO scim_shifts (organization_id, count) VALUES ($1, 1)
     ON CONFLICT (organization_id) DO UPDATE SET count = scim_shifts.count + 1`,
    [organizationId],
  );
}

function lookedUpBy(resource: Named) {
  const { userName, externalId } = resource;
  return {
    user_name: userName,
    user_name_canonical: fold(userName),
    external_id: typeof externalId === 'string' ? externalId : null,
    resource: JSON.stringify(resource),
    search: JSON.stringify(searchDocument(resource)),
  };
}

async function replaceEmails(record: Entry, resource: Named): Promise<void> {
  const [before, after] = [searchEmails(resourceOf(record)), searchEmails(resource)];
  if (before.join('\n') === after.join('\n')) return;
  await execute('DELETE FROM scim_emails WHERE record_id = $1', [record.id]);
  await insertEmails(record, after);
}

async function insertEmails(
  of: Pick<Entry, 'id' | 'organizationId'>,
  values: string[],
): Promise<void> {
  if (values.length === 0) return;
  const places = values.map((_, at) => `($1, $2, $${at + 3})`).join(', ');
  await execute(
    `INSERT INTO scim_emails (record_id, organization_id, value_canonical) VALUES ${places}`,
    [of.id, of.organizationId, ...values],
  );
}
