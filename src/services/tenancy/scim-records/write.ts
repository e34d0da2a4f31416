import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { RecordLink } from '../../../database/models/scim-record.ts';
import { execute, insertRow, select } from '../../../database/select.ts';
import { fold } from '../../foundation/scim-user/names.ts';
import { type Named, resourceOf } from '../../foundation/scim-user/resource.ts';
import { searchDocument, searchEmails } from '../../foundation/scim-user/search.ts';
import type { Entry } from './record.ts';

// Records are written only here, so that the lookup columns agree with what the client wrote.

interface NewRecord {
  organizationId: string;
  accountId: string;
  link: RecordLink;
  resource: Named;
  active: boolean;
  at: Date;
}

/** Writes a new record. Call it inside the transaction that makes the record true. */
export async function insertRecord({ resource, at, ...whose }: NewRecord): Promise<Entry> {
  const { organizationId, accountId, link, active } = whose;
  const written = lookedUpBy(resource);
  const id = orderedId();
  await insertRow('scim_records', {
    id,
    organization_id: organizationId,
    account_id: accountId,
    link,
    active,
    hidden: false,
    version: 1,
    created_at: at,
    modified_at: at,
    ...written,
  });
  await insertEmails({ id, organizationId }, searchEmails(resource));
  const { user_name: userName, resource: text } = written;
  return {
    ...whose,
    id,
    userName,
    resource: text,
    hidden: false,
    version: 1,
    createdAt: at,
    modifiedAt: at,
  };
}

/** The fields to change of a record. */
export interface RecordChange {
  resource?: Named;
  active?: boolean;
  hidden?: boolean;
  link?: RecordLink;
}

/** Changes a record that is locked until the transaction ends, and raises its version by one. */
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

/** Marks the lists as changed before an account is deleted with its records. */
export async function forgetRecords(accountId: string): Promise<void> {
  const lists = await select<{ organization_id: string }>(
    'SELECT organization_id FROM scim_records WHERE account_id = $1 AND hidden = $2 ORDER BY organization_id',
    [accountId, false],
  );
  for (const { organization_id } of lists) await shiftList(organization_id);
}

/** Marks a list as changed before its end: clients' positions in it are then found anew. */
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
