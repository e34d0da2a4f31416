import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withProgress } from '../../src/cli/progress.ts';

let shown = '';
const wasTerminal = process.stderr.isTTY;

beforeEach(() => {
  shown = '';
  vi.useFakeTimers();
  vi.stubEnv('TERM', 'xterm');
  process.stderr.isTTY = true;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});

afterEach(() => {
  process.stderr.isTTY = wasTerminal;
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Runs work of this duration. Returns the output before its end, and the last line after it. */
async function work(
  milliseconds: number,
  wanted = true,
): Promise<{ during: string; last: string | undefined }> {
  const done = withProgress(
    () => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    wanted,
  );
  await vi.advanceTimersByTimeAsync(milliseconds - 1);
  const during = shown;
  await vi.advanceTimersByTimeAsync(1);
  await done;
  return { during, last: shown.split('\r').at(-1) };
}

test('work longer than a second shows progress on a terminal, and clears it at the end', async () => {
  const { during, last } = await work(3500);
  expect(during).toMatch(/\r. working, 1 s\r.*\r. working, 3 s$/s);
  expect(last).toBe('');
  expect(shown.split('\r').at(-2)).toMatch(/^ +$/);
});

test('quick or quiet work, and work off a terminal, shows no progress', async () => {
  await work(900);
  await work(3000, false);
  process.stderr.isTTY = false;
  await work(3000);
  expect(shown).toBe('');
});

test('the line shows the current step, and overwrites a longer line before it', async () => {
  let doing = 'copying accounts, 10 %';
  const done = withProgress(
    () => new Promise((resolve) => setTimeout(resolve, 4000)),
    true,
    () => doing,
  );
  await vi.advanceTimersByTimeAsync(2000);
  doing = 'checking';
  await vi.advanceTimersByTimeAsync(2000);
  await done;
  expect(shown).toMatch(/\r. copying accounts, 10 %, 1 s\r/);
  expect(shown).toMatch(/\r. checking, 2 s {14}\r/);
});
