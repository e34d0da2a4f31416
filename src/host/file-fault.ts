import { userInfo } from 'node:os';

/**
 * Why a file or folder could not be read or written, in words that follow its name: `does not
 * exist`. For an error without such words, the text ends with its code.
 */
export function fileFault(cause: unknown, wanted: 'read' | 'written'): string {
  const code = codeOf(cause) ?? 'unknown cause';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return wanted === 'read' ? 'does not exist' : 'is in a folder that does not exist';
    case 'EISDIR':
      return 'is a folder';
    case 'EACCES':
    case 'EPERM':
      return `may not be ${wanted} by the user ${userName()}`;
    case 'EROFS':
      return 'is on a read-only disk';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'cannot be written: there is no space left';
    default:
      return `cannot be ${wanted}: ${code}`;
  }
}

/** The hint if idctl's user may not read a file; undefined for other errors. */
export function accessHint(cause: unknown): string | undefined {
  const denied = ['EACCES', 'EPERM'].includes(codeOf(cause) ?? '');
  return denied
    ? 'Let that user read it, and enter the folders above it; or run the command as a user that can read it: sudo idctl …'
    : undefined;
}

/** Whether the error says that the file does not exist. */
export function isMissing(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(cause) ?? '');
}

/** Whether the error says that the path is a folder. */
export function isFolder(cause: unknown): boolean {
  return codeOf(cause) === 'EISDIR';
}

/** The message for a folder given in place of a file. */
export function nameFileIn(folder: string): string {
  return `${folder} is a folder. Name a file in it.`;
}

/** The error's system code, such as `ENOENT`, if it has one. */
export function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : undefined;
}

/** The name of the user that idctl runs as, for messages. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? 'that runs it');
  }
}
