import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { ScimEmail } from '../../../database/models/scim-email.ts';
import { type RecordLink, ScimRecord } from '../../../database/models/scim-record.ts';
import { ScimShift } from '../../../database/models/scim-shift.ts';
import type { ScimResource } from '../attributes.ts';
import { fold } from '../names.ts';
import { searchDocument, searchEmails } from '../search.ts';

// Records are written here and nowhere else, so that what is looked up by always agrees with what the client wrote.

/** A resource with the name that every record has. */
export type Named = ScimResource & { userName: string };

interface NewRecord {
  organizationId: string;
  accountId: string;
  link: RecordLink;
  resource: Named;
  active: boolean;
  at: Date;
}

/** Writes a new record. Call it inside the transaction that makes the person what the record says. */
export async function insertRecord({ resource, at, ...whose }: NewRecord): Promise<ScimRecord> {
  const record = await ScimRecord.create({
    ...whose,
    ...lookedUpBy(resource),
    id: orderedId(),
    hidden: false,
    version: 1,
    createdAt: at,
    modifiedAt: at,
  });
  await insertEmails(record, searchEmails(resource));
  return record;
}

/** What a record is changed to. */
export interface RecordChange {
  resource?: Named;
  active?: boolean;
  hidden?: boolean;
  link?: RecordLink;
}

/** Changes a record that is held until the transaction ends; it is one version further then. */
export async function changeRecord(ctx: Context, record: ScimRecord, change: RecordChange): Promise<void> {
  const { resource, ...rest } = change;
  const before = resource === undefined ? [] : searchEmails(resourceOf(record));
  if (rest.hidden !== undefined && rest.hidden !== record.hidden) await shiftList(record.organizationId);
  await record.update({
    ...rest,
    ...(resource === undefined ? {} : lookedUpBy(resource)),
    version: record.version + 1,
    modifiedAt: ctx.now,
  });
  if (resource !== undefined) await replaceEmails(record, before, searchEmails(resource));
}

/** What the client wrote. */
export function resourceOf(record: Pick<ScimRecord, 'resource'>): Named {
  // Only `lookedUpBy` writes it.
  return JSON.parse(record.resource) as Named;
}

/** Says, before an account goes with its records, that they are gone from the lists. */
export async function forgetRecords(accountId: string): Promise<void> {
  const records = await ScimRecord.findAll({
    where: { accountId, hidden: false },
    order: ['organizationId'],
  });
  for (const { organizationId } of records) await shiftList(organizationId);
}

/** Says that the list is no longer what it was before its end: places in it are found anew. */
async function shiftList(organizationId: string): Promise<void> {
  await ScimShift.bulkCreate([{ organizationId, count: 0 }], { ignoreDuplicates: true });
  await ScimShift.increment('count', { where: { organizationId } });
}

function lookedUpBy(resource: Named) {
  const { userName, externalId } = resource;
  return {
    userName,
    userNameCanonical: fold(userName),
    externalId: typeof externalId === 'string' ? externalId : null,
    resource: JSON.stringify(resource),
    search: searchDocument(resource),
  };
}

async function replaceEmails(record: ScimRecord, before: string[], after: string[]): Promise<void> {
  if (before.join('\n') === after.join('\n')) return;
  await ScimEmail.destroy({ where: { recordId: record.id } });
  await insertEmails(record, after);
}

async function insertEmails({ id, organizationId }: ScimRecord, values: string[]): Promise<void> {
  if (values.length === 0) return;
  await ScimEmail.bulkCreate(
    values.map((valueCanonical) => ({ recordId: id, valueCanonical, organizationId })),
  );
}
