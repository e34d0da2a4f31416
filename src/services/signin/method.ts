import type { ConnectionKindName } from '../../connection-kinds.ts';
import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { giveBack, type Limit } from '../foundation/limits/limit.ts';
import { inWordsOf } from '../people/sessions/schema.ts';
import type { GivenFactor, SecondFactor } from '../people/two-factor/second-factor.ts';
import type { Begun } from './begin.ts';

// A way to sign in is a value of the type `Way`, and `attempt` runs one attempt.

/** The types of one way to sign in. */
export interface WayTypes {
  /** What the person sends. */
  input: unknown;
  /** The target of the attempt, such as a connection. It is known before anything is counted. */
  at: unknown;
  /** What is looked up or compared before the person is checked. */
  seen: unknown;
  /** How the person has proved who they are. */
  proof: object;
}

/** One attempt to sign in, before the person is checked. */
interface BegunAttempt<K extends WayTypes> {
  input: K['input'];
  at: K['at'];
  /** The URL that the person goes to after the sign-in. */
  returnTo: string;
}

/** One attempt to sign in, with the limits that it counts in. */
interface Counted<K extends WayTypes> extends BegunAttempt<K> {
  limits: Limit[];
  /** Resolves when the attempt has ended, and its counts have been given back or stay. */
  judged: Promise<void>;
}

/** One attempt to sign in, when the person is checked. */
export interface Attempt<K extends WayTypes> extends Counted<K> {
  seen: K['seen'];
}

/** How attempts are limited. */
interface Limits<K extends WayTypes> {
  of: (ctx: Context, asked: BegunAttempt<K>) => Limit[] | Promise<Limit[]>;
  /** Counts the attempt, or only checks that there is room if `look` counts it. */
  count: (ctx: Context, limits: Limit[]) => Promise<void>;
  /** Where a sign-in gives its counts back; absent if `enter` does it. */
  givesBack?: 'firstInTransaction' | 'lastInTransaction' | 'afterCommit';
  /** Whether a guess was wrong, so that it stays counted. All other errors give the counts back. */
  wrong: (error: unknown) => boolean;
  /** Gives back what else the attempt has used up, after any error. */
  afterError?: (attempt: Attempt<K>) => Promise<void>;
}

/** How the account's second factor is asked for. */
interface Asking<K extends WayTypes> {
  /** Whether the answer may come in a second step; `onPages` if pages alone have one. */
  inTwoSteps: 'always' | 'onPages' | 'never';
  /** The answer, if the request can have it. */
  given?: (input: K['input']) => GivenFactor;
  /** Whether the known account is asked before `enter` runs for the first time. */
  first?: (account: Account) => boolean;
}

/** What is recorded of a failed attempt. Without a field, nothing is recorded. */
interface Events<K extends WayTypes> {
  /** Records a person that was refused, after the counts are given back. */
  refused?: (ctx: Context, attempt: Attempt<K>, error: unknown) => Promise<void>;
  /** Records a server that could not be used. Returns the error that the person sees. */
  failed?: (ctx: Context, at: K['at'], error: unknown) => Promise<unknown>;
  /** Stores how far the sign-in came. `learn` gets the proof. */
  kept?: <T>(
    ctx: Context,
    of: K['at'] | K['proof'],
    signIn: (learn: (proof: K['proof']) => void) => Promise<T>,
  ) => Promise<T>;
}

/** One way to sign in. */
export interface Way<K extends WayTypes> {
  /** A held arrival is stored with this name, so the name never changes. */
  name: ConnectionKindName | 'password' | 'magicCode' | 'passkey' | 'social' | 'loginLink';
  /** Runs the sign-in if this way is offered. A refusal here is neither counted nor recorded. */
  offered: <T>(ctx: Context, input: K['input'], signIn: (at: K['at']) => Promise<T>) => Promise<T>;
  limits?: Limits<K>;
  /**
   * Looks up or compares what was sent. An error stays counted, and is not recorded as a refusal.
   */
  look: (ctx: Context, counted: Counted<K>) => Promise<K['seen']>;
  /** Checks the person, or refuses. Returns the proof, and the account if it is already known. */
  prove: (ctx: Context, attempt: Attempt<K>) => Promise<{ proof: K['proof']; account?: Account }>;
  secondFactor: Asking<K>;
  /** Uses the proof up, first in the transaction that begins the session or holds the arrival. */
  spend?: (attempt: Attempt<K>) => Promise<void>;
  /** Finds the account and begins the session, inside the sign-in's transaction. May run twice. */
  enter: (ctx: Context, proof: K['proof'], given: Entering) => Promise<Begun>;
  /** Syncs the groups once the session has begun. Never fails the sign-in (spec §4.1 step 6). */
  syncGroups?: (ctx: Context, proof: K['proof'], accountId: string) => Promise<void>;
  /** The URL that the person goes to after the sign-in; `/` if absent. */
  returnTo?: (proof: K['proof']) => string;
  /** The words of a refusal, for ways with fields to fill in. */
  words?: Parameters<typeof inWordsOf>[0];
  events: Events<K>;
}

/** What `enter` gets besides the proof. */
export interface Entering {
  /** The account, if it is known before the proof is used. */
  account: Account | undefined;
  secondFactor: SecondFactor | null;
}

/** A proof with its way to sign in. It can be stored for a second step, so its size is bounded. */
export interface Arrival {
  stored: { by: string };
  returnTo: string;
  enter: (ctx: Context, given: Entering) => Promise<Begun>;
  syncGroups: (ctx: Context, accountId: string) => Promise<void>;
  /** Runs the second step, and stores how far it came. */
  kept: <T>(ctx: Context, finish: () => Promise<T>) => Promise<T>;
}

/** A sign-in method with the functions that `method` adds. */
export interface WayIn<K extends WayTypes> extends Way<K> {
  arrivalOf: (proof: K['proof']) => Arrival;
  /** The arrival that was stored with this method's name. */
  resume: (stored: object) => Arrival;
}

/** Adds `arrivalOf` and `resume` to a sign-in method. */
export function method<K extends WayTypes>(way: Way<K>): WayIn<K> {
  const { name, enter, syncGroups, returnTo, events } = way;
  const arrivalOf = (proof: K['proof']): Arrival => ({
    stored: { by: name, ...proof },
    returnTo: returnTo?.(proof) ?? '/',
    enter: (ctx, given) => enter(ctx, proof, given),
    syncGroups: async (ctx, accountId) => syncGroups?.(ctx, proof, accountId),
    kept: (ctx, finish) => {
      if (events.kept === undefined) return finish();
      return events.kept(ctx, proof, (learn) => {
        learn(proof);
        return finish();
      });
    },
  });
  // Only `holdForSecondFactor` stores arrivals: under this name, it stored a proof of this method.
  return { ...way, arrivalOf, resume: (stored) => arrivalOf(stored as K['proof']) };
}

/**
 * Counts one attempt, calls `look`, and runs `enter`. If that fails, gives the counts back unless
 * the guess was wrong, and records the refusal or the failure.
 */
export async function attempt<K extends WayTypes, T>(
  ctx: Context,
  way: WayIn<K>,
  asked: BegunAttempt<K>,
  enter: (attempt: Attempt<K>, learn: (proof: K['proof']) => void) => Promise<T>,
): Promise<T> {
  const limits = (await way.limits?.of(ctx, asked)) ?? [];
  await way.limits?.count(ctx, limits);
  const { promise: judged, resolve: end } = Promise.withResolvers<void>();
  return telling(ctx, way, asked.at, async (learn) => {
    const counted = { ...asked, limits, judged };
    const tried = { ...counted, seen: await way.look(ctx, counted) };
    try {
      return await enter(tried, learn);
    } catch (error) {
      await settle(ctx, way, tried, error);
      throw error;
    }
  }).finally(end);
}

/** Runs the sign-in, and words its error. Records how far it came, and a server that failed. */
async function telling<K extends WayTypes, T>(
  ctx: Context,
  { events: { kept, failed }, words }: WayIn<K>,
  at: K['at'],
  signIn: (learn: (proof: K['proof']) => void) => Promise<T>,
): Promise<T> {
  try {
    return await (kept === undefined ? signIn(() => {}) : kept(ctx, at, signIn));
  } catch (error) {
    const shown = failed === undefined ? error : await failed(ctx, at, error);
    throw words === undefined ? shown : inWordsOf(words, shown);
  }
}

/** Gives the counts back unless the guess was wrong, and records a refused person. */
async function settle<K extends WayTypes>(
  ctx: Context,
  { limits, events }: WayIn<K>,
  tried: Attempt<K>,
  error: unknown,
): Promise<void> {
  if (limits !== undefined && !limits.wrong(error)) await giveBack(ctx, tried.limits);
  await events.refused?.(ctx, tried, error);
  await limits?.afterError?.(tried);
}
