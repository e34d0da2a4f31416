import { type ConnectionKindName, connectionKindNames } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import type { Pointing } from './approval.ts';
import type { GroupRules } from './groups.ts';
import { ldapGroups, whereLdapPoints } from './ldap.ts';
import { ssoGroups, whereSsoPoints } from './sso.ts';

/** A stored connection of any kind. */
export interface Connection {
  kind: ConnectionKindName;
  row: Pick<SsoConnection | LdapConnection, keyof SsoConnection & keyof LdapConnection>;
  /** Where the connection points (security I8). */
  points: (ctx: Context) => Pointing;
  groups: GroupRules;
}

/** The rows to find: by their columns, each with one value or a list. */
type Where = Partial<
  Record<'id' | 'organizationId', string | string[]> & Record<'approved', boolean>
>;

const order = ['organizationId'];

/** What each kind finds, and how it reads a row. */
const kinds: Record<ConnectionKindName, (where: Where) => Promise<Omit<Connection, 'kind'>[]>> = {
  sso: async (where) =>
    (await SsoConnection.findAll({ where, order })).map((row) => {
      return { row, points: (ctx) => whereSsoPoints(ctx, row), groups: ssoGroups(row) };
    }),
  ldap: async (where) =>
    (await LdapConnection.findAll({ where, order })).map((row) => {
      return { row, points: () => whereLdapPoints(row), groups: ldapGroups(row) };
    }),
};

/** The connections of every kind, kind by kind in the order of `connectionKinds`. */
export async function findConnections(where: Where): Promise<Connection[]> {
  const found: Connection[] = [];
  for (const kind of connectionKindNames)
    for (const one of await kinds[kind](where)) found.push({ kind, ...one });
  return found;
}
