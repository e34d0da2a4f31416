import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Kills every process whose working directory is this folder or below it, until none is left. */
export async function killAllIn(folder: string): Promise<void> {
  for (;;) {
    const found = processesIn(folder);
    if (found.length === 0) return;
    for (const pid of found) signal(pid, 'SIGKILL');
    await pause(20);
  }
}

/**
 * Suspends every process whose working directory is this folder or below it. The returned function
 * resumes them.
 */
export async function freezeAllIn(folder: string): Promise<() => void> {
  const frozen = new Set<number>();
  for (;;) {
    // A process may have started another before it was suspended.
    const found = processesIn(folder).filter((pid) => !frozen.has(pid));
    if (found.length === 0) break;
    for (const pid of found) {
      signal(pid, 'SIGSTOP');
      frozen.add(pid);
    }
    await pause(20);
  }
  return () => {
    for (const pid of frozen) signal(pid, 'SIGCONT');
  };
}

/** Kills the processes with this name whose working directory is this folder or below it. */
export function killNamed(folder: string, name: string): void {
  for (const pid of processesIn(folder))
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name) signal(pid, 'SIGKILL');
}

function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => `${workingFolderOf(pid)}/`.startsWith(`${folder}/`))
    .map(Number);
}

/** Returns an empty path for a process that has ended or that belongs to another user. */
function workingFolderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
}
