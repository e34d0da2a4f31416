const patience = 1000;
const signs = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Runs the work. After a second, a terminal shows a progress line, with `doing`, until the end. */
export async function withProgress<T>(
  work: () => Promise<T>,
  shown: boolean,
  doing = () => 'working',
): Promise<T> {
  if (!shown || process.stderr.isTTY !== true || process.env['TERM'] === 'dumb') return work();
  const began = performance.now();
  let drawn = 0;
  let width = 0;
  const timer = setInterval(() => {
    const elapsed = performance.now() - began;
    if (elapsed < patience) return;
    const line = `${signs[drawn % signs.length]} ${doing()}, ${Math.floor(elapsed / 1000)} s`;
    process.stderr.write(`\r${line.padEnd(width)}`);
    width = line.length;
    drawn += 1;
  }, 120);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (drawn > 0) process.stderr.write(`\r${' '.repeat(width)}\r`);
  }
}

/** Runs the work. If a signal arrives, calls `clean`, and then ends the process. */
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
