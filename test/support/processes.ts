import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Kills every process whose working directory is this folder or below it, until none is left. */
export async function killAllIn(folder: string): Promise<void> {
  for (;;) {
    const found = processesIn(folder);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await pause(20);
  }
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

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
