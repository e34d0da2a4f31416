import type { Context } from '../../../context.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type {
  DirectoryClient,
  DirectoryEntry,
  DirectoryQuery,
  FoundEntries,
} from '../../../outbound/directory/directory.ts';
import type { Reason } from '../../../reasons.ts';
import { canonicalEmail } from '../../foundation/domain-names/canonical.ts';
import { name as nameField } from '../../foundation/fields.ts';
import { openBindPassword } from '../connections/ldap.ts';
import { tryingBind } from './bind-tries.ts';
import { canonicalDn, isUnder } from './dn.ts';
import { fillFilter } from './filter.ts';

/** The settings that say how to find and read a person. */
export interface Reading {
  searchBase: string;
  searchFilter: string;
  emailAttribute: string;
  givenNameAttribute: string;
  familyNameAttribute: string;
  groupsAttribute: string | null;
}

/** The person that a directory finds for a user name. */
export interface DirectoryPerson {
  /** Exactly as received, because the bind sends it. */
  dn: string;
  /** entryUUID or objectGUID, which a rename does not change; else the DN (security I1). */
  issuer: 'entryUUID' | 'objectGUID' | 'dn';
  subject: string;
  /** Canonical, in the order of the directory. */
  emails: string[];
  name: string | null;
  /** As received. Null if idctl does not read groups, or if the list is too long or incomplete. */
  groups: string[] | null;
}

/** Why a search does not give exactly one person that can be stored (security L4). */
export type Missing = 'user_not_found' | 'user_ambiguous' | 'dn_outside_base' | 'entry_malformed';

const maxGroups = 1000;
const maxEmails = 1000;
// An entry of a PostgreSQL index has at most 2704 bytes.
const maxBytes = 2000;

/**
 * Searches as the service account for the one person of this user name, or says why there is none.
 * Refuses with `too_many_requests` if too many bind passwords were refused (security L8).
 */
export async function findPerson(
  ctx: Context,
  visit: DirectoryClient,
  connection: LdapConnection,
  username: string,
): Promise<{ ok: true; person: DirectoryPerson } | { ok: false; reason: Reason }> {
  const account = { dn: connection.bindDn, password: openBindPassword(ctx, connection) };
  const query = personQuery(connection, username);
  const answer = await tryingBind(ctx, connection, (watch) => watch(visit).search(account, query));
  return answer.ok
    ? onePerson(answer.value, connection)
    : { ok: false, reason: `service_${answer.at}_${answer.reason}` };
}

/**
 * The query for exactly this user name. It requests two entries, so that a second match is noticed
 * (security L4).
 */
export function personQuery(reading: Reading, username: string): DirectoryQuery {
  return {
    base: reading.searchBase,
    scope: 'sub',
    filter: fillFilter(reading.searchFilter, username),
    attributes: attributesOf(reading),
    limit: 2,
  };
}

/** The attributes to read of a person. */
export function attributesOf(reading: Reading): string[] {
  const { emailAttribute, givenNameAttribute, familyNameAttribute, groupsAttribute } = reading;
  const named = [emailAttribute, givenNameAttribute, familyNameAttribute];
  return [
    ...named,
    ...(groupsAttribute === null ? [] : [groupsAttribute]),
    'entryUUID',
    'objectGUID',
  ];
}

/** The one person found, or why there is none (security L4). */
export function onePerson(
  { entries, more }: FoundEntries,
  reading: Reading,
): { ok: true; person: DirectoryPerson } | { ok: false; reason: Missing } {
  const [entry] = entries;
  if (entry === undefined) return { ok: false, reason: 'user_not_found' };
  if (entries.length > 1 || more) return { ok: false, reason: 'user_ambiguous' };
  const dn = canonicalDn(entry.dn);
  const base = canonicalDn(reading.searchBase);
  if (dn === null || base === null || !isUnder(dn, base))
    return { ok: false, reason: 'dn_outside_base' };
  const person = readPerson(entry, dn, reading);
  return [person.dn, person.subject].every(isStorable)
    ? { ok: true, person }
    : { ok: false, reason: 'entry_malformed' };
}

/** The text values of an attribute, without its binary ones. */
export function textsOf(entry: DirectoryEntry, attribute: string): string[] {
  const values = entry.attributes.get(attribute.toLowerCase()) ?? [];
  return values.filter((value) => typeof value === 'string');
}

function readPerson(entry: DirectoryEntry, dn: string[], reading: Reading): DirectoryPerson {
  const emails = textsOf(entry, reading.emailAttribute).slice(0, maxEmails).map(canonicalEmail);
  return {
    dn: entry.dn,
    ...keyOf(entry, dn),
    emails: emails.filter((email) => email !== null),
    name: nameOf(entry, reading),
    groups: reading.groupsAttribute === null ? null : groupsOf(entry, reading.groupsAttribute),
  };
}

/** Whether databases can store and find the text, and events can show it. */
function isStorable(text: string): boolean {
  return Buffer.byteLength(text) <= maxBytes && !/\p{Cc}/u.test(text);
}

function keyOf(entry: DirectoryEntry, dn: string[]): Pick<DirectoryPerson, 'issuer' | 'subject'> {
  const [uuid] = textsOf(entry, 'entryUUID');
  if (uuid !== undefined && uuid !== '')
    return { issuer: 'entryUUID', subject: uuid.toLowerCase() };
  const [guid] = entry.attributes.get('objectguid') ?? [];
  if (Buffer.isBuffer(guid) && guid.length === 16)
    return { issuer: 'objectGUID', subject: guidOf(guid) };
  return { issuer: 'dn', subject: dn.join(',') };
}

/** The GUID as Windows writes it: the first three parts in reverse byte order (MS-DTYP §2.3.4). */
function guidOf(bytes: Buffer): string {
  const reversed = [3, 2, 1, 0, 5, 4, 7, 6].map((at) => bytes.readUInt8(at));
  const hex = Buffer.concat([Buffer.from(reversed), bytes.subarray(8)]).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The first given name and the first family name, as far as they exist. */
function nameOf(entry: DirectoryEntry, { givenNameAttribute, familyNameAttribute }: Reading) {
  const parts = [givenNameAttribute, familyNameAttribute].flatMap((one) =>
    textsOf(entry, one).slice(0, 1),
  );
  return nameField.safeParse(parts.join(' ')).data ?? null;
}

/**
 * The groups of the entry. Null if there are too many, or if Active Directory returns only some of
 * them, under another attribute name.
 */
function groupsOf(entry: DirectoryEntry, attribute: string): string[] | null {
  const inPart = `${attribute.toLowerCase()};range=`;
  const parted = [...entry.attributes.keys()].some((name) => name.startsWith(inPart));
  const groups = textsOf(entry, attribute);
  return parted || groups.length > maxGroups ? null : groups;
}
