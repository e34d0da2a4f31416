import { readdir, readFile } from 'node:fs/promises';

// On a busy machine, a program takes longer, but needs hardly more processor time.

const msPerTick = 10;

/** The processor time that a process and its children have taken so far, in milliseconds. */
export async function processorTime(pid: number): Promise<number> {
  const all = await Promise.all(
    (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf),
  );
  const own = all.find((each) => each?.pid === pid);
  const children = all.filter((each) => each?.parent === pid);
  const ticks = children.reduce((sum, child) => sum + (child?.own ?? 0), own?.own ?? 0);
  return msPerTick * (ticks + (own?.ended ?? 0));
}

/** Reads from /proc the ticks of a process (`own`), and those of its ended children (`ended`). */
async function statOf(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in brackets, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 15) return undefined;
  const sum = (...at: number[]) => at.reduce((total, each) => total + Number(fields[each]), 0);
  return { pid: Number(pid), parent: Number(fields[1]), own: sum(11, 12), ended: sum(13, 14) };
}
