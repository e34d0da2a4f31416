import { Refusal, type RefusalCode } from '../errors.ts';
import { codeOf } from '../host/file-fault.ts';
import type { Next } from '../next.ts';

interface Meaning {
  /** The default is `database_unreachable`. */
  code?: RefusalCode;
  message: string;
  hint: Next;
}

const gone: Meaning = {
  message: 'The database cannot be reached.',
  hint: {
    technical:
      'Check that the database is running, and that database.url is right. Then try again.',
  },
};
const standby: Meaning = {
  message: 'The database server does not accept writes.',
  hint: { technical: 'The server is a standby or read-only. Set database.url to the primary.' },
};
const denied: Meaning = {
  message: 'The database refused the connection of idctl.',
  hint: { technical: 'Check the user, password and database name in database.url.' },
};
const unusable: Meaning = {
  message: 'The database file cannot be used.',
  hint: {
    technical:
      'Check that database.url names the right file, and that idctl can write to the file and its folder.',
  },
};
const forbidden: Meaning = {
  message: 'The database file cannot be used.',
  hint: {
    technical:
      'Let the user that runs idctl read and write the file and its folder. Or run idctl as a user that can.',
  },
};
const misplaced: Meaning = {
  message: 'The database file was moved, deleted or replaced while idctl had it open.',
  hint: {
    technical:
      'Stop idctl, put the file of database.url and its -wal back, or restore a backup. Then start idctl.',
  },
};
const lost: Meaning = {
  message: 'The disk has lost a change that was not acknowledged.',
  hint: { technical: 'Check the disk. Then restart idctl, which keeps every acknowledged change.' },
};
const damaged: Meaning = {
  message: 'The database file is damaged.',
  hint: {
    technical:
      'Stop idctl. Move the file of database.url away, with its -wal and -shm. Then run: idctl restore BACKUP',
  },
};
const foreign: Meaning = {
  message: 'The file of database.url is damaged or not a database.',
  hint: {
    technical:
      'Check database.url. If it names the right file, stop idctl and move the file away. Then run: idctl restore BACKUP',
  },
};
const untrusted: Meaning = {
  message: 'The database cannot be reached over TLS.',
  hint: {
    technical:
      'Check sslmode in database.url. For your own certificate authority, set NODE_EXTRA_CA_CERTS.',
  },
};
const busy: Meaning = {
  code: 'database_busy',
  message: 'The database was busy for too long.',
  hint: 'Try again in a few seconds.',
};
const full: Meaning = {
  code: 'database_full',
  message: 'There is no space left for the database.',
  hint: 'Free space on its disk. Nothing else is needed.',
};
const withoutHandles: Meaning = {
  code: 'overloaded',
  message: 'idctl has too many files and connections open.',
  hint: 'Try again in a few seconds. If this lasts, raise LimitNOFILE in the unit.',
};

// Deleting a row deletes or clears references to it, except `clients.project_id`. So this error
// usually means a new reference without a target.
const removed: Meaning = {
  code: 'not_found',
  message: 'The change refers to a record that was just removed.',
  hint: 'Read the data again, then repeat the change.',
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
  IDCTL_LOST_PAGES: lost,
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

// Messages of pg's errors without a code.
const sayings = [
  /^Connection terminated/,
  /^timeout expired$/,
  /^Query read timeout$/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^Connection timed out$/,
];

/** The refusal for a server that does not accept writes. */
export function standbyRefusal(): Refusal {
  return refuse(standby);
}

/** Whether a server refused a write because it is a standby or read-only. */
export function isReadOnly(error: unknown): boolean {
  return causes(error).some((link) => codeOf(link) === '25006');
}

/**
 * The refusal for a database error, such as a full disk or a reference to a removed row. Returns a
 * refusal among the causes as it is. Null for any other error.
 */
export function databaseRefusal(error: unknown): Refusal | null {
  const links = causes(error);
  for (const link of links) {
    if (link instanceof Refusal) return link;
    const meaning = meaningOf(link);
    if (meaning) return refuse(meaning, error);
  }
  const isConnecting = links.some(({ name }) => name === 'SequelizeConnectionError');
  return isConnecting ? refuse(gone, error) : null;
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
