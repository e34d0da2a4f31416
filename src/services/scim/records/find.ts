import { Transaction } from 'sequelize';
import type { Account } from '../../../database/models/account.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { lockAccount } from '../../accounts/lock.ts';
import { isUuid } from '../../fields.ts';
import { fold } from '../names.ts';
import { scimRefusal } from '../refusal.ts';

/** The organization's record of this name, in any case of letters; hidden ones too. */
export function findRecordNamed(organizationId: string, userName: string): Promise<ScimRecord | null> {
  return ScimRecord.findOne({ where: { organizationId, userNameCanonical: fold(userName) } });
}

/** The organization's record of the account; hidden ones too. */
export function findRecordOf(organizationId: string, accountId: string): Promise<ScimRecord | null> {
  return ScimRecord.findOne({ where: { organizationId, accountId } });
}

/** The record of this id that clients of the organization see, or 404. */
export async function requireRecord(organizationId: string, id: string): Promise<ScimRecord> {
  const known = isUuid(id) ? { id: id.toLowerCase(), organizationId, hidden: false } : null;
  const record = known === null ? null : await ScimRecord.findOne({ where: known });
  if (record === null) throw noSuchUser(id);
  return record;
}

/** The refusal of a User that is not there for the client. */
export function noSuchUser(id: string) {
  return scimRefusal(404, undefined, `There is no User ${id.slice(0, 100)}.`);
}

/** A record and its account, which stay as they are until the transaction ends. */
export interface Held {
  record: ScimRecord;
  account: Account;
}

/**
 * Holds the record as it is now, and its account before it, as everybody does, so that nobody waits for each other; null
 * when it is gone.
 */
export async function holdRecord({ id, accountId }: ScimRecord): Promise<Held | null> {
  const account = await lockAccount(accountId);
  const record = await ScimRecord.findByPk(id, { lock: Transaction.LOCK.UPDATE });
  return account === null || record === null ? null : { account, record };
}
