import type { Attributes, Model, ModelStatic, WhereOptions } from 'sequelize';
import { type How, type Kind, type Late, locks, noteHolds } from './hold-order.ts';
import { holdAmong, holdRows, locksRows } from './hold-rows.ts';
import { Account } from './models/account.ts';
import { Client } from './models/client.ts';
import { Domain } from './models/domain.ts';
import { LdapConnection } from './models/ldap-connection.ts';
import { Membership } from './models/membership.ts';
import { Organization } from './models/organization.ts';
import { Project } from './models/project.ts';
import { ProjectMembership } from './models/project-membership.ts';
import { RefreshToken } from './models/refresh-token.ts';
import { SsoConnection } from './models/sso-connection.ts';
import { Sweep } from './models/sweep.ts';
import { Webhook } from './models/webhook.ts';
import { readRow } from './read-row.ts';
import { execute, select, selectAmong } from './select.ts';

// Holds rows until the transaction ends. Each function returns the rows as they are now. SQLite has
// one writer, which holds everything, so it does not need locks. The order is in hold-order.ts.

// For an account, `whole` would wait for every writer of a row that refers to it.

/**
 * The account, or null if it is gone. Code that begins or ends sessions holds the account first, so
 * that no session begins while an account is shut out. Use `beside` only to add rows such as a
 * session.
 */
async function account(id: string, how: 'alone' | 'beside' = 'alone'): Promise<Account | null> {
  const row = await readRow(Account, ['id', id], locks[how]);
  if (row !== null) noteHolds('account', [id], how);
  return row;
}

/** The refresh token, or null if it is gone. */
async function refreshToken(id: string): Promise<RefreshToken | null> {
  const row = await readRow(RefreshToken, ['id', id], locks.whole);
  if (row !== null) noteHolds('refreshToken', [id], 'whole');
  return row;
}

/** Locks the accounts with these ids, without reading them. */
async function accounts(ids: readonly string[], how: 'alone' | 'beside' = 'alone'): Promise<void> {
  const sorted = [...new Set(ids)].toSorted();
  const [id] = sorted;
  if (locksRows() && id !== undefined && sorted.length === 1)
    await select(`SELECT id FROM accounts WHERE id = $1 FOR ${locks[how]}`, [id], {
      prepared: true,
    });
  else if (locksRows())
    await selectAmong(
      sorted,
      (list) => `SELECT id FROM accounts WHERE id IN (${list}) ORDER BY id FOR ${locks[how]}`,
    );
  noteHolds('account', sorted, how);
}

/** Holds every account with a membership or a SCIM record in the organization. */
async function accountsOf(organizationId: string): Promise<void> {
  if (!locksRows()) return;
  const rows = await select<{ id: string }>(
    `SELECT id FROM accounts WHERE id IN (
        SELECT account_id FROM memberships WHERE organization_id = $1
        UNION SELECT account_id FROM scim_records WHERE organization_id = $1
      ) ORDER BY id FOR ${locks.alone}`,
    [organizationId],
  );
  noteHolds(
    'account',
    rows.map(({ id }) => id),
    'alone',
  );
}

/** Holds these projects, so that none is removed, and returns the ids of those that exist. */
async function keptProjects(ids: readonly string[]): Promise<Set<string>> {
  // Without other writers, a project that has just been read still exists.
  if (!locksRows()) return new Set(ids);
  const rows = await selectAmong<{ id: string }>(
    [...new Set(ids)].toSorted(),
    (list) => `SELECT id FROM projects WHERE id IN (${list}) ORDER BY id FOR ${locks.kept}`,
  );
  const there = rows.map(({ id }) => id);
  noteHolds('project', there, 'kept');
  return new Set(there);
}

/** Whether the domain still exists. If so, it is kept. */
async function keptDomain(id: string, late?: Late): Promise<boolean> {
  const isThere =
    !locksRows() ||
    (await select(`SELECT 1 FROM domains WHERE id = $1 FOR ${locks.kept}`, [id])).length > 0;
  if (isThere) noteHolds('domain', [id], 'kept', late);
  return isThere;
}

/**
 * The group mappings of an organization. A SCIM push reads mappings and writes members. A change of
 * mappings reads members. Neither sees the other's uncommitted rows, so a push holds the mappings
 * `beside` other pushes, and a change holds them `alone`.
 */
async function mappings(organizationId: string, how: 'alone' | 'beside'): Promise<void> {
  const lock = how === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  if (locksRows())
    await select(`SELECT ${lock}(hashtextextended('group mappings ' || $1, 0))`, [organizationId]);
  noteHolds('mappings', [organizationId], how);
}

/** Notes rows that this transaction has created, which other transactions cannot hold. */
function created(kind: Kind, ids: readonly string[]): void {
  noteHolds(kind, ids, 'whole', { late: true });
}

type Where<M extends Model> = WhereOptions<Attributes<M>>;

/** Holds one row of the model, or returns null if there is none. */
function oneOf<M extends Model, Strength extends How>(kind: Kind, model: ModelStatic<M>) {
  return async (where: Where<M>, how: Strength, late?: Late): Promise<M | null> => {
    const row = await model.findOne({ where, lock: locks[how] });
    if (row !== null) noteHolds(kind, [keyOf(row)], how, late);
    return row;
  };
}

/** Holds rows of the model, in the order of their ids. */
function allOf<M extends Model & { id: string }>(kind: Kind, model: ModelStatic<M>) {
  return async (where: Where<M>, how: How): Promise<M[]> => {
    const found = await model.findAll({ where, order: ['id'], lock: locks[how] });
    noteHolds(
      kind,
      found.map(({ id }) => id),
      how,
    );
    return found;
  };
}

function keyOf(row: Model): string {
  const attributes = row.constructor as ModelStatic<Model>; // A row knows its own model.
  return attributes.primaryKeyAttributes.map((name) => String(row.get(name))).join(' ');
}

/** Holds the row of an organization that was read before, and reads it again. */
async function again(organization: Organization, how: 'alone' | 'whole'): Promise<void> {
  await organization.reload({ lock: locks[how] });
  noteHolds('organization', [organization.id], how);
}

/**
 * Excludes other additions of this kind to the organization. It is without a rank, because it comes
 * last.
 */
async function room(cap: string, organizationId: string): Promise<void> {
  if (locksRows())
    await select('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `cap ${cap} ${organizationId}`,
    ]);
}

/**
 * Keeps a setup link: ending it waits for this transaction. It is without a rank, because it comes
 * last.
 */
async function setupLink(id: string): Promise<void> {
  if (locksRows()) await select(`SELECT id FROM setup_links WHERE id = $1 FOR ${locks.kept}`, [id]);
}

/**
 * Holds a table: others may read it, but not write to it. Transactions that call this run one after
 * the other.
 */
async function table(name: string, mode: 'EXCLUSIVE' | 'SHARE ROW EXCLUSIVE'): Promise<void> {
  if (locksRows()) await execute(`LOCK TABLE ${name} IN ${mode} MODE`, []);
}

/**
 * The enabled webhooks of an organization, kept: none is removed before its delivery is written.
 */
function webhooks(organizationId: string): Promise<Webhook[]> {
  return Webhook.findAll({
    where: { organizationId, enabled: true },
    attributes: ['id', 'events'],
    lock: locks.kept,
  });
}

/** Holds rows until the transaction ends. */
export const hold = {
  account,
  accounts,
  accountsOf,
  again,
  among: holdAmong,
  client: oneOf<Client, 'whole'>('client', Client),
  clients: allOf<Client>('client', Client),
  created,
  domain: oneOf<Domain, How>('domain', Domain),
  domains: allOf<Domain>('domain', Domain),
  keptDomain,
  keptProjects,
  ldap: oneOf<LdapConnection, How>('ldap', LdapConnection),
  mappings,
  membership: oneOf<Membership, 'whole'>('membership', Membership),
  // Here `whole` would wait for every writer of a row that refers to the organization.
  organization: oneOf<Organization, 'alone' | 'whole'>('organization', Organization),
  project: oneOf<Project, 'kept' | 'whole'>('project', Project),
  projectMembership: oneOf<ProjectMembership, 'whole'>('projectMembership', ProjectMembership),
  projects: allOf<Project>('project', Project),
  refreshToken,
  room,
  rows: holdRows,
  setupLink,
  sso: oneOf<SsoConnection, How>('sso', SsoConnection),
  ssos: allOf<SsoConnection>('sso', SsoConnection),
  sweep: oneOf<Sweep, 'whole'>('sweep', Sweep),
  table,
  webhooks,
};
