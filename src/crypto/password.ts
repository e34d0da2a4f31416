import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createGate } from './gate.ts';

/** Hashes and checks passwords with argon2id, a bounded number at once. */
export interface PasswordHasher {
  /**
   * `client` is the known client that asks, or null. Under load, a known client keeps its turn
   * (`createGate`).
   */
  hash(password: string, client?: string | null): Promise<string>;
  /**
   * Whether the password matches the hash. With no hash it spends the same time and answers false.
   * `onTurn` runs when the turn comes, before any hashing. An error that it throws is passed on.
   */
  verify(
    hash: string | null,
    password: string,
    onTurn?: () => Promise<void>,
    client?: string | null,
  ): Promise<boolean>;
  /**
   * Refuses `overloaded` if a turn would be refused now. Asked first, so that a refusal costs
   * nothing else.
   */
  refuseIfFull(client: string | null): Promise<void>;
  /** Loads the hashing library. Throws if that fails, so that a daemon reports it at start. */
  ready(): Promise<void>;
  /** How many hashes and checks run now, and how many wait. */
  load(): { running: number; waiting: number };
  /** Whether the hash was made with other parameters than the configured ones. */
  needsRehash(hash: string): boolean;
}

/** The cost of one hash (`memory` in KiB), how many run at once, and how long one may wait. */
export interface HashingOptions {
  memory: number;
  time: number;
  lanes: number;
  concurrency?: number;
  maxWaitMs?: number;
}

// Loaded only when used: most commands hash nothing.
const argon2 = () => import('argon2');

/**
 * Makes a hasher with these parameters. `hash` and `verify` refuse `overloaded` if their turn does
 * not come (P6).
 */
export function createPasswordHasher(options: HashingOptions): PasswordHasher {
  const { memory, time, lanes } = options;
  const { concurrency } = options;
  const places = concurrency === undefined ? hashesAtOnce() : () => concurrency;
  // One more has its turn than may hash, so that its `onTurn` runs while the others hash.
  const turn = createGate(() => places() + 1, options.maxWaitMs ?? 2000);
  const hashing = createGate(places, patience);
  // No password matches this random hash, and checking it costs as much as a real one (P7).
  const dummy = `$argon2id$v=19$m=${memory},p=${lanes},t=${time}$${random(16)}$${random(32)}`;
  const parameters = { memoryCost: memory, timeCost: time, parallelism: lanes };
  return {
    load: () => {
      const { running, waiting } = hashing.load();
      return { running, waiting: waiting + turn.load().waiting };
    },
    refuseIfFull: turn.refuseIfFull,
    ready: async () => void (await argon2()),
    hash: (password, client) =>
      turn(async () => {
        const { argon2id, hash } = await argon2();
        return hashing(() => hash(password, { type: argon2id, ...parameters }));
      }, client),
    verify: (hash, password, onTurn, client) => {
      const known = hash !== null && readHash(hash) !== null;
      return turn(async () => {
        await onTurn?.();
        const { verify } = await argon2();
        return hashing(() => verify(known ? hash : dummy, password));
      }, client);
    },
    needsRehash: (hash) => {
      const made = readHash(hash);
      return (
        made?.type !== 'argon2id' ||
        made.memory !== memory ||
        made.time !== time ||
        made.lanes !== lanes
      );
    },
  };
}

/**
 * One per core, but fewer than the threads of libuv's pool, which all files and DNS share (P6). One
 * less while the event loop is busy more than half of its time, so that other work stays fast.
 */
function hashesAtOnce(): () => number {
  const pool = Number(process.env['UV_THREADPOOL_SIZE']) || 4;
  const most = Math.max(1, Math.min(availableParallelism(), pool - 1));
  let sample = { at: performance.now(), loop: performance.eventLoopUtilization(), busy: 0 };
  return () => {
    const at = performance.now();
    if (at - sample.at >= sampleMs) {
      const loop = performance.eventLoopUtilization();
      sample = { at, loop, busy: performance.eventLoopUtilization(loop, sample.loop).utilization };
    }
    return sample.busy > 0.5 ? Math.max(1, most - 1) : most;
  };
}

const sampleMs = 100;

// Only one item waits for the end of a hash, which comes.
const patience = 60_000;

const encoded =
  /^\$(argon2(?:id|i|d))\$v=19\$([mtp]=\d{1,8}(?:,[mtp]=\d{1,8}){2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/**
 * The parameters of a hash within the bounds of RFC 9106 §3.1. Null for a hash that argon2 would
 * throw at.
 */
function readHash(
  hash: string,
): { type: string; memory: number; time: number; lanes: number } | null {
  const [, type = '', list = ''] = encoded.exec(hash) ?? [];
  const given = new URLSearchParams(list.replaceAll(',', '&'));
  const [memory, time, lanes] = [
    Number(given.get('m')),
    Number(given.get('t')),
    Number(given.get('p')),
  ];
  return time >= 1 && lanes >= 1 && memory >= 8 * lanes ? { type, memory, time, lanes } : null;
}

function random(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}
