import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The files of `src/` and their functions that some work entered. */
export interface Entered {
  files: string[];
  /** Each with its file, its place there and its name. */
  functions: string[];
}

/** How long after an answer the server may still work for it. */
const afterwardsMs = 100;

/** How long the last timer runs that earlier work has set. */
const quietMs = 1500;

/** Begins to count calls in this process. */
export async function countCalls(root: string) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

  /** The functions that were called since they were last taken. */
  async function take(): Promise<string[]> {
    await setTimeout(afterwardsMs);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.flatMap(({ url, functions }) => {
      const file = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!file.startsWith(`${root}/src/`)) return [];
      return functions.flatMap(({ functionName, ranges: [whole] }) => {
        // The module itself starts at 0; it runs when it is loaded, so it is not a call.
        if (whole === undefined || whole.count === 0 || whole.startOffset === 0) return [];
        return [`${file.slice(root.length + 1)}:${whole.startOffset} ${functionName}`];
      });
    });
  }

  return {
    /**
     * Runs the works in turn, which do the same, and returns what each of them entered. A check
     * that is due once in a second, for example, belongs to none of them.
     */
    async duringEach(works: (() => Promise<unknown>)[]): Promise<Entered> {
      const taken: string[][] = [];
      await setTimeout(quietMs);
      await take();
      for (const work of works) {
        await work();
        taken.push(await take());
      }
      const [first = [], ...others] = taken;
      const functions = first.filter((one) => others.every((other) => other.includes(one)));
      const files = new Set(functions.map((name) => name.slice(0, name.indexOf(':'))));
      return { files: [...files].sort(), functions: functions.sort() };
    },
    close: () => session.disconnect(),
  };
}
