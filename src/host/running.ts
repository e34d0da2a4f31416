import { codeOf } from './file-fault.ts';

/** Whether another process with this PID runs. If not, files named after it can be deleted. */
export function isOtherRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
