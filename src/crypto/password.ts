import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createGate } from './gate.ts';

/** Hashes and checks passwords with argon2id. Limits how many hashes run at the same time. */
export interface PasswordHasher {
  /**
   * `client` names the known client that asks, or is null. Known clients have a queue of their own
   * (`createGate`).
   */
  hash(password: string, client?: string | null): Promise<string>;
  /**
   * Whether the password matches the hash. Without a hash, it takes the same time and returns
   * false. `onTurn` runs when the caller's turn comes, before any hashing. Its error is passed on.
   */
  verify(
    hash: string | null,
    password: string,
    onTurn?: () => Promise<void>,
    client?: string | null,
  ): Promise<boolean>;
  /**
   * Refuses with `overloaded` if `hash` and `verify` would refuse now. Call it first, so that a
   * refusal costs nothing else.
   */
  refuseIfFull(client: string | null): Promise<void>;
  /** Loads the hashing library, or throws. A daemon calls it at start to report a failure early. */
  ready(): Promise<void>;
  /** The number of running hashes and checks, and of waiting ones. */
  load(): { running: number; waiting: number };
  /** Whether the hash's parameters differ from the configured ones. */
  needsRehash(hash: string): boolean;
}

/**
 * The cost of a hash (`memory` in KiB), the number of hashes at the same time, and the longest
 * wait.
 */
export interface HashingOptions {
  memory: number;
  time: number;
  lanes: number;
  concurrency?: number;
  maxWaitMs?: number;
}

// Loaded when first used: most commands do not hash.
const argon2 = () => import('argon2');

/**
 * Creates a hasher with these parameters. `hash` and `verify` refuse with `overloaded` if their
 * turn does not come in time (P6).
 */
export function createPasswordHasher(options: HashingOptions): PasswordHasher {
  const { memory, time, lanes } = options;
  const { concurrency } = options;
  const places = concurrency === undefined ? hashesAtOnce() : () => concurrency;
  // Admits one caller more than may hash at the same time. Its `onTurn` runs while the others hash.
  const turn = createGate(() => places() + 1, options.maxWaitMs ?? 2000);
  const hashing = createGate(places, patience);
  // A random hash that no password matches. Checking it costs as much as a real one (P7).
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
 * One hash per core, but fewer than libuv's threads, which all file and DNS operations share (P6).
 * One less while the event loop is busy over half of the time, so that other work stays fast.
 */
function hashesAtOnce(): () => number {
  const pool = Number(process.env['UV_THREADPOOL_SIZE']) || 4;
  const max = Math.max(1, Math.min(availableParallelism(), pool - 1));
  let sample = { at: performance.now(), loop: performance.eventLoopUtilization(), busy: 0 };
  return () => {
    const at = performance.now();
    if (at - sample.at >= sampleMs) {
      const loop = performance.eventLoopUtilization();
      sample = { at, loop, busy: performance.eventLoopUtilization(loop, sample.loop).utilization };
    }
    return sample.busy > 0.5 ? Math.max(1, max - 1) : max;
  };
}

const sampleMs = 100;

// Only one caller waits here, for a running hash to end.
const patience = 60_000;

const encoded =
  /^\$(argon2(?:id|i|d))\$v=19\$([mtp]=\d{1,8}(?:,[mtp]=\d{1,8}){2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/**
 * The parameters of a hash, within the bounds of RFC 9106 §3.1. Null for a hash for which argon2
 * would throw.
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
