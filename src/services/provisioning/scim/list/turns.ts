import { OutOfTime } from '../../../../database/select-within.ts';

// One slow read per organization runs at a time, and few in total. So one client's filters do not
// delay another's, and on PostgreSQL they do not take all connections.

const atOnce = 3;
const last = new Map<string, Promise<unknown>>();
const queue: (() => void)[] = [];
let running = 0;

/**
 * Runs the read when it is the organization's turn and there is room. Throws `OutOfTime` if that
 * comes too late.
 */
export async function inListTurn<T>(
  organizationId: string,
  until: number,
  read: () => Promise<T>,
): Promise<T> {
  const before = last.get(organizationId) ?? Promise.resolve();
  const turn = before.then(() => withRoom(until, read));
  const settled = turn.catch(() => {});
  last.set(organizationId, settled);
  void settled.then(() => last.get(organizationId) === settled && last.delete(organizationId));
  return turn;
}

async function withRoom<T>(until: number, read: () => Promise<T>): Promise<T> {
  if (running >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
  else running += 1;
  try {
    if (performance.now() >= until) throw new OutOfTime();
    return await read();
  } finally {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
