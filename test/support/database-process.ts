import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Another process that uses the same database. */
export interface DatabaseChild {
  process: ChildProcess;
  /** The next line that it prints, parsed. */
  says(): Promise<unknown>;
  /** Waits until the process ends; throws if it failed. */
  ends(): Promise<void>;
}

/** Starts test/support/database-child.ts; it is killed when the test is over. */
export function databaseChild(url: string, deed: string, number = 0): DatabaseChild {
  const script = fileURLToPath(new URL('./database-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, url, deed, String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  return {
    process: child,
    async says() {
      const line = await lines.next();
      if (line.done)
        throw new Error(`the process printed nothing and ended with ${(await ended)[0]}`);
      return JSON.parse(line.value);
    },
    async ends() {
      const [code] = await ended;
      if (code !== 0) throw new Error(`the process ended with ${code}`);
    },
  };
}
