import { randomUUIDv7 } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from './config/schema.ts';
import type { PasswordHasher } from './crypto/password.ts';
import type { Keyring } from './crypto/seal.ts';
import type { TokenScope } from './database/models/access-token.ts';
import type { DatabaseLoad } from './database/open.ts';
import type { Refusal } from './errors.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { ScimMemory } from './scim-memory.ts';

/** What one process holds from its start to its end; everything below the doors reaches the world through it. */
export interface App {
  config: Config;
  /** The one clock. Nothing below the doors asks the time by itself. */
  clock: () => Date;
  outbound: Outbound;
  keyring: Keyring;
  passwords: PasswordHasher;
  log: Logger;
  /** When each access token was last used, by its id, until it is written down: never on a request's path (security P13). */
  tokenUses: Map<string, Date>;
  scim: ScimMemory;
  /** How many sign-ins have ended how since the process began, by method and outcome; for the metrics. */
  signIns: Map<string, number>;
  /** How many callbacks wait for a provider, by client and by connection. */
  callbacksUnderWay: Map<string, number>;
  /** How busy the connections to the database are. */
  databaseLoad(): DatabaseLoad;
  /** Settles when requests can be answered; refuses `not_ready`, `database_unreachable` or `key_invalid` otherwise. */
  ready(): Promise<void>;
  /** The refusal that a thrown error of the platforms stands for (a database that is gone or busy), or null for a bug. */
  refusalOf(error: unknown): Refusal | null;
  /** Runs the work as it would run and takes every write back: what it answers is what would happen. */
  rehearse<T>(work: () => Promise<T>): Promise<T>;
  /** Ends connections and timers; safe to call twice. */
  close(): Promise<void>;
}

/** Who asks. */
export type Actor =
  | { kind: 'operator'; name: string }
  | ({ kind: 'user'; accountId: string; name: string } & Proof)
  /** The provisioning client of one organization, by its SCIM token. */
  | { kind: 'scim'; organizationId: string; name: string }
  /** A client that has proved to be an app, by its secret. */
  | { kind: 'app'; appId: string; name: string }
  | { kind: 'system'; name: string }
  | { kind: 'anonymous' };

/** How a person has proved who they are: signed in, or by a token of theirs (`bot`: one minted for their app). */
type Proof =
  | { via: 'session'; sessionId: string }
  | { via: 'pat' | 'bot'; tokenId: string; scope: TokenScope };

/** One request, command or job: the App, who asks, and one instant. */
export interface Context extends Omit<App, 'clock' | 'refusalOf' | 'rehearse' | 'close'> {
  actor: Actor;
  /** The instant of the request; asked once, so that everything in it agrees. */
  now: Date;
  requestId: string;
  /** Where the request came from, when it came over the network. */
  client: { address: string | null; userAgent: string | null };
}

/** A context of this instant for work that did not come over the network: a command of the operator's, or a job. */
export function openContext(app: App, actor: Actor): Context {
  const client = { address: null, userAgent: null };
  return { ...app, actor, now: app.clock(), requestId: randomUUIDv7(), client };
}
