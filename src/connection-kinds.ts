// The kinds of connections that an organization can have, and what is fixed for each. The database
// stores the names. What a kind does with a stored connection is in services/tenancy/connections.

interface KindFacts {
  /** The name in rows, events, operations and the document, so it never changes. */
  name: string;
  /** The title of its section on a page. */
  title: string;
  /** The kind in a list of ways to sign in. */
  way: string;
  /** The subject of a sentence that says that one is there, or that none is. */
  some: string;
  none: string;
  /** What the connection leads to. */
  server: string;
  /** The names of two settings: the secret, and the URL that the secret is sent to. */
  secret: string;
  address: string;
  /** Whether the server may check a second factor in place of the account's own (security P12). */
  checksFactor: boolean;
}

/** Every kind of connection, by its name, in the order in which they are locked and shown. */
export const connectionKinds = {
  sso: {
    name: 'sso',
    title: 'Single sign-on',
    way: 'single sign-on',
    some: 'Single sign-on',
    none: 'No single sign-on',
    server: 'provider',
    secret: 'clientSecret',
    address: 'issuer',
    checksFactor: true,
  },
  ldap: {
    name: 'ldap',
    title: 'Directory',
    way: 'the directory',
    some: 'A directory',
    none: 'No directory',
    server: 'directory',
    secret: 'bindPassword',
    address: 'uri',
    checksFactor: false,
  },
} as const satisfies Record<string, KindFacts>;

/** The name of a kind of connection. */
export type ConnectionKindName = keyof typeof connectionKinds;

/** The names of all kinds, in the order of the table. */
export const connectionKindNames: readonly ConnectionKindName[] = Object.values(
  connectionKinds,
).map(({ name }) => name);

/** A value for each kind. */
export function ofEachKind<Value>(
  of: (kind: ConnectionKindName) => Value,
): Record<ConnectionKindName, Value> {
  return { sso: of('sso'), ldap: of('ldap') };
}

/** Whether a method of sign-in, an origin or a section of the document is a kind of connection. */
export function isConnectionKind(name: string): name is ConnectionKindName {
  return Object.hasOwn(connectionKinds, name);
}

/** The kinds whose server may check a second factor in place of the account's own. */
export const factorKinds: readonly string[] = connectionKindNames.filter(
  (name) => connectionKinds[name].checksFactor,
);
