import type { Failure } from '../failure.ts';

/** The address of a directory, and how to connect. */
export interface DirectoryServer {
  /** For example `ldaps://ldap.example.com`. */
  uri: string;
  /** With `ldap://` it means StartTLS. */
  tls: boolean;
  /** The trusted certificates (PEM). Null means those that this instance trusts. */
  caCertificate: string | null;
}

/**
 * Questions to one directory, each over its own connection (security L5). All refuse
 * `upstream_failed`, whose `extra` has `at` and `reason`, or `outbound_refused`. A refusal by the
 * directory itself is an answer.
 */
export interface DirectoryVisit {
  /** Connects and returns when the certificate expires; null without TLS. */
  greet(): Promise<{ validUntil: Date | null }>;
  /** Binds as the searching account, and finds entries. References are not followed. */
  search(account: DirectoryAccount, query: DirectoryQuery): Promise<DirectoryAnswer<FoundEntries>>;
  /** Binds with this DN, exactly as received, and this password, which must not be empty. */
  prove(account: DirectoryAccount): Promise<DirectoryAnswer<null>>;
}

export interface DirectoryAccount {
  dn: string;
  password: string;
}

export interface DirectoryQuery {
  base: string;
  scope: 'base' | 'sub';
  /** RFC 4515. */
  filter: string;
  attributes: string[];
  /** The most entries to request. */
  limit: number;
}

export interface FoundEntries {
  entries: DirectoryEntry[];
  /** There are more entries than these. */
  more: boolean;
}

export interface DirectoryEntry {
  dn: string;
  /** By names in lower case. Binary values and objectGUID are bytes. */
  attributes: Map<string, (string | Buffer)[]>;
}

/** A directory's answer, or its reason for refusing, with the result code of RFC 4511. */
export type DirectoryAnswer<T> =
  | { ok: true; value: T }
  | { ok: false; at: 'bind' | 'search'; reason: DirectoryReason; code: number };

/** Why a directory refused a valid request. Active Directory's codes are distinguished. */
export type DirectoryReason =
  | 'credentials_refused'
  | 'user_unknown'
  | 'wrong_password'
  | 'logon_hours'
  | 'workstation'
  | 'password_expired'
  | 'account_disabled'
  | 'account_expired'
  | 'must_change_password'
  | 'account_locked'
  | 'stronger_auth_required'
  | 'encryption_required'
  | 'dn_malformed'
  | 'anonymous_refused'
  | 'not_permitted'
  | 'base_missing'
  | 'bind_required'
  | 'referred'
  | 'limit_exceeded'
  | 'refused';

/** The stage at which the connection to a directory failed. */
export type DirectoryPlace = 'name' | 'connection' | 'TLS' | 'answer';

/** The reason why the connection to a directory failed. */
export type DirectoryFailure = Failure | 'closed' | 'malformed' | 'starttls_refused' | 'busy';
