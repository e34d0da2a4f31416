import type { Attributes } from 'sequelize';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import type { ScimRecord } from '../../../database/models/scim-record.ts';
import { select } from '../../../database/select.ts';
import { isUuid } from '../../foundation/fields.ts';
import { fold } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';

// Records bypass the ORM: SCIM clients send hundreds of thousands of requests in a row.

/** A record as plain data, without the columns that are only searched. */
export type Entry = Omit<Attributes<ScimRecord>, 'userNameCanonical' | 'externalId' | 'search'>;

/** The fields of an account that provisioning uses. */
export type RecordedPerson = Pick<Account, 'id' | 'email' | 'name'>;

/** The columns of a record, from `scim_records r`. */
export const columns = `r.id, r.organization_id AS "organizationId", r.account_id AS "accountId", r.link,
  r.user_name AS "userName", r.active, r.hidden, r.resource, r.version, r.created_at AS "createdAt",
  r.modified_at AS "modifiedAt"`;

/** The kinds of these columns. */
export const kinds = {
  active: 'flag',
  hidden: 'flag',
  createdAt: 'time',
  modifiedAt: 'time',
} as const;

/** The organization's record with this user name, ignoring case, even if hidden. */
export function findRecordNamed(organizationId: string, userName: string): Promise<Entry | null> {
  return findEntry('r.user_name_canonical = $2', [organizationId, fold(userName)]);
}

async function findEntry(condition: string, values: [string, string]): Promise<Entry | null> {
  const [row = null] = await select<Entry>(
    `SELECT ${columns} FROM scim_records r WHERE r.organization_id = $1 AND ${condition}`,
    values,
    { columns: kinds },
  );
  return row;
}

/** The organization's record of the account, even if hidden. */
export function findRecordOf(organizationId: string, accountId: string): Promise<Entry | null> {
  return findEntry('r.account_id = $2', [organizationId, accountId]);
}

/** Whether SCIM gives the account's name: it created the account, and that membership exists. */
export async function isNamedByClient(accountId: string): Promise<boolean> {
  const rows = await select(
    'SELECT id FROM scim_records WHERE account_id = $1 AND link = $2 AND active = $3 LIMIT 1',
    [accountId, 'created', true],
  );
  return rows.length > 0;
}

/** The record with the user name, or else of the account with the address, even if hidden. */
export async function findRecord(
  organizationId: string,
  { userName, email }: { userName: string; email: string | null },
): Promise<Entry | null> {
  const [found] = await select<Entry & { rank: number }>(
    `SELECT ${columns}, 1 AS rank FROM scim_records r WHERE r.organization_id = $1 AND r.user_name_canonical = $2
     UNION ALL
     SELECT ${columns}, 2 AS rank FROM accounts a
       JOIN scim_records r ON r.account_id = a.id AND r.organization_id = $1 WHERE a.email = $3
     ORDER BY rank LIMIT 1`,
    [organizationId, fold(userName), email],
    { columns: kinds },
  );
  if (found === undefined) return null;
  const { rank: _, ...record } = found;
  return record;
}

/** The groups that SCIM keeps for a person that it shows as deactivated; null for any other. */
export async function findKeptGroups(
  organizationId: string,
  user: string,
): Promise<string[] | null> {
  const rows = await select<{ name: string | null }>(
    `SELECT g.display_name AS name FROM scim_records r
       JOIN accounts a ON a.id = r.account_id
       JOIN scim_tokens t ON t.organization_id = r.organization_id
       LEFT JOIN scim_group_members m ON m.record_id = r.id
       LEFT JOIN scim_groups g ON g.id = m.group_id
      WHERE r.organization_id = $1 AND ${isUuid(user) ? 'a.id' : 'a.email'} = $2
        AND r.active = $3 AND r.hidden = $3 ORDER BY g.display_name`,
    [organizationId, user, false],
  );
  return rows.length === 0 ? null : rows.flatMap(({ name }) => name ?? []);
}

/** The record of this id that clients of the organization see, or 404. */
export async function requireRecord(organizationId: string, id: string): Promise<Entry> {
  const rows = isUuid(id)
    ? await select<Entry>(
        `SELECT ${columns} FROM scim_records r WHERE r.id = $1 AND r.organization_id = $2 AND r.hidden = $3`,
        [id.toLowerCase(), organizationId, false],
        { prepared: true, columns: kinds },
      )
    : [];
  if (rows[0] === undefined) throw noSuchUser(id);
  return rows[0];
}

function noSuchUser(id: string) {
  return scimRefusal(404, undefined, `There is no User ${id.slice(0, 100)}.`);
}

/** A record and its account, locked until the transaction ends. */
export interface Held {
  record: Entry;
  account: RecordedPerson & Pick<Account, 'emailProof'>;
}

/** Locks the account and the record. Null if the record was deleted. */
export async function holdRecord(of: Pick<Entry, 'id' | 'organizationId'>): Promise<Held | null> {
  const [row] = await hold.rows<Entry & Pick<Account, 'email' | 'emailProof' | 'name'>>(
    [
      `SELECT ${columns}, a.email, a.email_proof AS "emailProof", a.name FROM accounts a
         JOIN scim_records r ON r.account_id = a.id WHERE r.id = $1 AND r.organization_id = $2`,
      [of.id, of.organizationId],
      { columns: kinds },
    ],
    { kind: 'account', of: 'a', how: 'alone', id: ({ accountId }) => accountId },
    { kind: 'scimRecord', of: 'r', how: 'whole', id: ({ id }) => id },
  );
  if (row === undefined) return null;
  const { email, emailProof, name, ...record } = row;
  return { account: { id: record.accountId, email, emailProof, name }, record };
}

/** Like `holdRecord`, for an id that clients of the organization see, or 404. */
export async function requireHeld(organizationId: string, id: string): Promise<Held> {
  const held = isUuid(id) ? await holdRecord({ id: id.toLowerCase(), organizationId }) : null;
  if (held === null || held.record.hidden) throw noSuchUser(id);
  return held;
}

/**
 * The account's records that no SCIM client has written: those that are active, and that of the
 * organization `by`.
 */
export function findUnadopted(accountId: string, by: string | null): Promise<Entry[]> {
  return select<Entry>(
    `SELECT ${columns} FROM scim_records r WHERE r.account_id = $1 AND r.link = $2
        AND (r.active = $3 OR r.organization_id = $4)`,
    [accountId, 'member', true, by],
    { columns: kinds },
  );
}

/** A member without a record. */
export interface Unrecorded extends RecordedPerson {
  joinedAt: Date;
}

/** The next `max` members after `after` who have no record. */
export function findUnrecorded(
  organizationId: string,
  after: string,
  max: number,
): Promise<Unrecorded[]> {
  return select<Unrecorded>(
    `SELECT a.id, a.email, a.name, m.joined_at AS "joinedAt"
       FROM memberships m JOIN accounts a ON a.id = m.account_id
       LEFT JOIN scim_records r ON r.account_id = m.account_id AND r.organization_id = m.organization_id
      WHERE m.organization_id = $1 AND m.account_id > $2 AND r.id IS NULL
      ORDER BY m.account_id LIMIT ${max}`,
    [organizationId, after],
    { columns: { joinedAt: 'time' } },
  );
}
