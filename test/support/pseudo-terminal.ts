import { spawn } from 'node:child_process';

/** Pairs of texts: when the terminal shows the first, the second is typed. */
export type Answers = readonly (readonly [shown: string, typed: string])[];

/**
 * Runs a shell command in a terminal of 80 columns (`script` of the Debian package bsdutils), types
 * the answers, and returns the shown text and the exit code. After `patience` milliseconds, if
 * given, it closes the terminal.
 */
export async function inTerminal(
  command: string,
  env: NodeJS.ProcessEnv,
  answers: Answers = [],
  patience?: number,
) {
  const child = spawn('/usr/bin/script', ['-qec', `stty cols 80; ${command}`, '/dev/null'], {
    env,
  });
  const late = patience === undefined ? undefined : setTimeout(() => child.kill(), patience);
  const left = [...answers];
  let shown = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    shown += part;
    // One part of the output may contain several of the texts.
    for (let [next] = left; next !== undefined; [next] = left) {
      const at = shown.indexOf(next[0], seen);
      if (at === -1) return;
      seen = at + next[0].length;
      left.shift();
      child.stdin.write(next[1]);
    }
  });
  const code = await new Promise<number | null>((done, fail) =>
    child.once('error', fail).once('close', done),
  );
  clearTimeout(late);
  return { shown, code };
}
