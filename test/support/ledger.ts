import type { Answer } from './http.ts';

/** The part of an answer that the ledger reads. */
type Told = Pick<Answer, 'status' | 'headers' | 'body'>;

type State = string | number;

interface Write {
  what: string;
  /** The new state of each subject; a write changes all of them together. */
  changes: Record<string, State>;
}

/**
 * Records every requested write and its outcome: acknowledged, or unknown if the connection broke
 * or the answer was 503. Afterwards it compares this with the database.
 */
export interface Ledger {
  /** Descriptions of the writes that idctl got wrong. */
  faults: string[];
  /** Descriptions of the answers with 503. */
  unavailable: string[];
  /** The numbers of acknowledged writes, and of requests that were cut off without an answer. */
  counts: { acknowledged: number; cut: number };
  /** Requests a write. Returns null unless the write was acknowledged. */
  write(
    what: string,
    changes: Write['changes'],
    ask: () => Promise<Told>,
  ): Promise<Told['body'] | null>;
  /**
   * Uses a single-use credential twice at once. At most one use may succeed; returns whether one
   * did.
   */
  useOnce(
    what: string,
    subject: string,
    ask: () => Promise<Told>,
    mayRefuse?: 'may refuse',
  ): Promise<boolean>;
  /**
   * The state that a subject must have in the database; undefined without an acknowledged write.
   */
  stateOf(subject: string): State | undefined;
  /** Whether the outcomes of all writes to the subject are known. */
  isSettled(subject: string): boolean;
  /**
   * Compares the ledger with the states in the database; an absent subject is `gone`. A write of
   * unknown outcome must be stored as a whole or not at all. Returns those that are stored.
   */
  settle(found: ReadonlyMap<string, State>): string[];
}

/** Opens an empty ledger. */
export function openLedger(): Ledger {
  const known = new Map<string, State>();
  const unknown = new Set<Write>();
  const faults: string[] = [];
  const unavailable: string[] = [];
  const counts = { acknowledged: 0, cut: 0 };
  /** True if the write was done, false if it was refused, null if neither is known. */
  const endOf = (what: string, answer: Told | null): boolean | null => {
    if (answer === null) counts.cut += 1;
    else if (answer.status === 503) {
      unavailable.push(`${what}: ${told(answer)}`);
      if (answer.headers['retry-after'] === undefined) faults.push(`${what}: 503, no Retry-After`);
    } else if (answer.status >= 500) faults.push(`${what}: ${told(answer)}`);
    else return answer.status < 400;
    return null;
  };
  const acknowledge = (write: Write) => {
    counts.acknowledged += 1;
    unknown.delete(write);
    for (const [subject, state] of Object.entries(write.changes)) known.set(subject, state);
  };
  return {
    faults,
    unavailable,
    counts,
    async write(what, changes, ask) {
      const write = { what, changes };
      unknown.add(write);
      const answer = await ask().catch(() => null);
      const done = endOf(what, answer);
      if (done) acknowledge(write);
      if (done === false) {
        unknown.delete(write);
        faults.push(`${what}: ${told(answer)}`);
      }
      return done ? answer?.body : null;
    },
    async useOnce(what, subject, ask, mayRefuse) {
      const write = { what, changes: { [subject]: Number(known.get(subject) ?? 0) + 1 } };
      unknown.add(write);
      const answers = await Promise.all([ask(), ask()].map((one) => one.catch(() => null)));
      const ends = answers.map((answer) => endOf(what, answer));
      const uses = ends.filter((done) => done === true).length;
      if (uses > 1) faults.push(`${what}: both of two uses succeeded`);
      if (uses > 0) acknowledge(write);
      else if (!ends.includes(null)) {
        unknown.delete(write);
        if (mayRefuse === undefined) faults.push(`${what}: ${answers.map(told).join(' and ')}`);
      }
      return uses > 0;
    },
    stateOf: (subject) => known.get(subject),
    isSettled: (subject) => ![...unknown].some(({ changes }) => subject in changes),
    settle(found) {
      const at = (subject: string) => found.get(subject) ?? 'gone';
      const done: string[] = [];
      for (const write of unknown) {
        const changes = Object.entries(write.changes);
        const there = changes.filter(([subject, state]) => at(subject) === state);
        if (there.length > 0 && there.length < changes.length)
          faults.push(`${write.what}: done by half: ${JSON.stringify(Object.fromEntries(there))}`);
        if (there.length < changes.length || changes.length === 0) continue;
        done.push(write.what);
        for (const [subject, state] of changes) known.set(subject, state);
      }
      unknown.clear();
      for (const [subject, state] of known) {
        if (at(subject) !== state) faults.push(`${subject}: is ${at(subject)}, must be ${state}`);
      }
      return done;
    },
  };
}

function told(answer: Told | null): string {
  if (answer === null) return 'no answer';
  return `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
}

/** Random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
