/**
 * Runs the work. If a signal arrives meanwhile, it cleans up first and then ends the process by the
 * same signal.
 */
export async function cleaningUp<T>(clean: () => void, work: () => Promise<T>): Promise<T> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: NodeJS.Signals) => {
    clean();
    for (const each of signals) process.off(each, end);
    process.kill(process.pid, signal);
  };
  for (const each of signals) process.once(each, end);
  try {
    return await work();
  } finally {
    for (const each of signals) process.off(each, end);
  }
}
