import { codeOf } from './file-fault.ts';

/** Whether another process of this machine has this id. What a killed process left can go. */
export function isOtherRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
