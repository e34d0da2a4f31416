import type { DirectoryReason } from '../../reasons.ts';

/** A directory server, and how to connect to it. */
export interface DirectoryServer {
  /** For example `ldaps://ldap.example.com`. */
  uri: string;
  /** Whether TLS is used. For an `ldap://` URI, this means StartTLS. */
  tls: boolean;
  /** The trusted certificates (PEM). If null, the instance's trusted certificates apply. */
  caCertificate: string | null;
}

/**
 * Operations on one directory, each over its own connection (security L5). All refuse with
 * `upstream_failed` (`extra` has `at` and `reason`) or `outbound_refused`. A refusal by the
 * directory itself is returned, not thrown.
 */
export interface DirectoryClient {
  /** Connects, and returns the time when the certificate expires; null without TLS. */
  greet(): Promise<{ validUntil: Date | null }>;
  /** Binds as the searching account, and finds entries. References are not followed. */
  search(account: DirectoryAccount, query: DirectoryQuery): Promise<DirectoryResult<FoundEntries>>;
  /** Binds with exactly this DN and this password, which must not be empty. */
  prove(account: DirectoryAccount): Promise<DirectoryResult<null>>;
}

export interface DirectoryAccount {
  dn: string;
  password: string;
}

export interface DirectoryQuery {
  base: string;
  scope: 'base' | 'sub';
  /** A filter as in RFC 4515. */
  filter: string;
  attributes: string[];
  /** The maximum number of entries to return. */
  limit: number;
}

export interface FoundEntries {
  entries: DirectoryEntry[];
  /** Whether the directory has more matching entries. */
  more: boolean;
}

export interface DirectoryEntry {
  dn: string;
  /** The values by attribute name in lower case. Binary values and objectGUID are bytes. */
  attributes: Map<string, (string | Buffer)[]>;
}

/** The result of an operation, or the directory's refusal with its result code (RFC 4511). */
export type DirectoryResult<T> =
  | { ok: true; value: T }
  | { ok: false; at: 'bind' | 'search'; reason: DirectoryReason; code: number };
