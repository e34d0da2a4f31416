import { Refusal, type RefusalCode } from '../errors.ts';
import { codeOf } from '../file-fault.ts';

interface Meaning {
  /** The default is `database_unreachable`. */
  code?: RefusalCode;
  message: string;
  hint: string;
}

const gone: Meaning = {
  message: 'The database cannot be reached.',
  hint: 'See that it runs and that database.url names it; then try again.',
};
const standby: Meaning = {
  message: 'The database server takes no writes.',
  hint: 'It is a standby, or set to read-only. Let database.url name the primary.',
};
const denied: Meaning = {
  message: 'The database does not let idctl in.',
  hint: 'See the user, password and database name in database.url.',
};
const unusable: Meaning = {
  message: 'The database file cannot be used.',
  hint: 'See that database.url names the right file, and that idctl may write to it and to its folder.',
};
const forbidden: Meaning = {
  message: 'The database file cannot be used.',
  hint: 'Let the user that runs idctl read and write the file and its folder; or run idctl as a user that can.',
};
const misplaced: Meaning = {
  message: 'The database file was moved, deleted or replaced while idctl had it open.',
  hint: 'Stop idctl, put the file of database.url and its -wal back, or restore a backup; then start idctl.',
};
const damaged: Meaning = {
  message: 'The database file is damaged.',
  hint: 'Stop idctl, move the file of database.url away, its -wal and -shm too, then: idctl restore BACKUP',
};
const foreign: Meaning = {
  message: 'The file of database.url is no database, or damaged.',
  hint: 'Correct database.url; if it names the right file, stop idctl, move that away, then: idctl restore BACKUP',
};
const untrusted: Meaning = {
  message: 'The database cannot be reached over TLS.',
  hint: 'See sslmode in database.url; NODE_EXTRA_CA_CERTS names an authority of your own.',
};
const busy: Meaning = {
  code: 'database_busy',
  message: 'Other processes kept the database busy.',
  hint: 'Try again in a few seconds.',
};
const full: Meaning = {
  code: 'database_full',
  message: 'There is no space left for the database.',
  hint: 'Make room on its disk; nothing else is needed.',
};
const withoutHandles: Meaning = {
  code: 'overloaded',
  message: 'idctl has too many files and connections open.',
  hint: 'Try again in a few seconds. If this lasts, raise the limit of open files: LimitNOFILE in the unit.',
};

// Deleting a row deletes its references, so this error is about a reference being written.
const removed: Meaning = {
  code: 'not_found',
  message: 'This refers to a record that was removed meanwhile.',
  hint: 'Read it again, then repeat the change.',
};

const meanings: Record<string, Meaning> = {
  // Sockets, as node:net and node:dns name them
  ECONNREFUSED: gone,
  ECONNRESET: gone,
  EPIPE: gone,
  ETIMEDOUT: gone,
  ENOTFOUND: gone,
  EAI_AGAIN: gone,
  EHOSTUNREACH: gone,
  ENETUNREACH: gone,
  // TLS, as node:tls names it
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  // Files
  ENOENT: unusable,
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: unusable,
  EISDIR: unusable,
  ENOTDIR: unusable,
  ENOSPC: full,
  EMFILE: withoutHandles,
  ENFILE: withoutHandles,
  IDCTL_MISPLACED: misplaced,
  // SQLite
  SQLITE_BUSY: busy,
  SQLITE_FULL: full,
  SQLITE_CANTOPEN: unusable,
  SQLITE_IOERR: unusable,
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: foreign,
  SQLITE_READONLY: unusable,
  SQLITE_CONSTRAINT_FOREIGNKEY: removed,
  // PostgreSQL, appendix A of its manual
  '57P01': gone,
  '57P02': gone,
  '57P03': gone,
  '25P03': gone,
  '25006': standby,
  '28000': denied,
  '28P01': denied,
  '3D000': denied,
  '42501': denied,
  '53300': busy,
  '55P03': busy,
  '57014': busy,
  '40001': busy,
  '40P01': busy,
  '53100': full,
  '23503': removed,
};

// pg's messages that come without a code.
const sayings = [
  /^Connection terminated/,
  /^timeout expired$/,
  /^Query read timeout$/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^Connection timed out$/,
];

/** The refusal for a server that takes no writes. */
export function standbyRefusal(): Refusal {
  return refuse(standby);
}

/** Whether a server refused a write because it is a standby or read-only. */
export function isReadOnly(error: unknown): boolean {
  return causes(error).some((link) => codeOf(link) === '25006');
}

/**
 * The refusal for a database error: connection lost, busy, full, or a row removed that another
 * should refer to. Null for any other error.
 */
export function databaseRefusal(error: unknown): Refusal | null {
  for (const link of causes(error)) {
    if (link instanceof Refusal) return link;
    const meaning = meaningOf(link);
    if (meaning) return refuse(meaning, error);
  }
  return null;
}

function refuse(
  { code = 'database_unreachable', message, hint }: Meaning,
  cause?: unknown,
): Refusal {
  return new Refusal(code, message, { hint, retryAfter: 5, cause });
}

function meaningOf(error: Error): Meaning | undefined {
  const code = codeOf(error) ?? '';
  if (error.name === 'SequelizeConnectionAcquireTimeoutError') return busy;
  if (error.message === 'The server does not support SSL connections') return untrusted;
  if (code.startsWith('08') || sayings.some((saying) => saying.test(error.message))) return gone;
  return meanings[code];
}

function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let link = error; link instanceof Error && !found.includes(link); ) {
    found.push(link);
    link = 'parent' in link ? link.parent : link.cause;
  }
  return found;
}
