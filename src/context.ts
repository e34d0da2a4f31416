import { randomUUIDv7 } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from './config/schema.ts';
import type { PasswordHasher } from './crypto/password.ts';
import type { Keyring } from './crypto/seal.ts';
import type { ReadAlong } from './database/along.ts';
import type { TokenScope } from './database/models/access-token.ts';
import type { SetupPart } from './database/models/setup-link.ts';
import type { DatabaseLoad } from './database/open.ts';
import type { Refusal } from './errors.ts';
import type { Memory } from './host/memory.ts';
import type { Outbound } from './outbound/outbound.ts';

/**
 * The resources of one process from start to end. Code below HTTP and the command line gets clock,
 * network, keys and configuration from here.
 */
export interface App {
  config: Config;
  /** The clock of the services. Tests replace it. */
  clock: () => Date;
  outbound: Outbound;
  keyring: Keyring;
  passwords: PasswordHasher;
  log: Logger;
  /** What the process remembers between requests. Each feature keeps its own part. */
  memory: Memory;
  /** The load on the database connections. */
  databaseLoad(): DatabaseLoad;
  /**
   * Resolves if requests can be answered, and says whether writes succeed too. Otherwise refuses
   * with `not_ready`, `schema_newer`, `database_moved` or `database_unreachable`.
   */
  ready(): Promise<{ writable: boolean }>;
  /** Logs an outage once, however often it is reported, and later logs its end. */
  tellOutage(refusal: Refusal): void;
  /** Resolves with the refusal once a reported outage is `database_moved`. */
  moved: Promise<Refusal>;
  /**
   * The refusal for a thrown platform error, such as a database that is gone or busy. Null for a
   * bug.
   */
  refusalOf(error: unknown): Refusal | null;
  /** Runs the work and rolls back every write. The answer shows what would happen. */
  rehearse<T>(work: () => Promise<T>): Promise<T>;
  /** Closes connections and timers. Safe to call twice. */
  close(): Promise<void>;
}

/** The caller of an operation. */
export type Actor =
  | { kind: 'operator'; name: string }
  | ({ kind: 'user'; accountId: string; name: string; along?: ReadAlong } & Proof)
  /** The provisioning client of one organization, authenticated with its SCIM token. */
  | { kind: 'scim'; organizationId: string; name: string }
  /**
   * The holder of a setup link, who may set up some parts of one organization. The name is the
   * address that the link was made for.
   */
  | {
      kind: 'setupLink';
      id: string;
      organizationId: string;
      name: string;
      parts: readonly SetupPart[];
    }
  /** An app that has authenticated with its secret. */
  | { kind: 'app'; appId: string; name: string }
  | { kind: 'system'; name: string }
  | { kind: 'anonymous' };

/** How a person's request is authenticated: by session or token. Apps get `bot` tokens. */
type Proof =
  | { via: 'session'; sessionId: string }
  | { via: 'pat' | 'bot'; tokenId: string; scope: TokenScope };

/** One request, command or job: the App, the actor, and one instant. */
export interface Context
  extends Omit<App, 'clock' | 'refusalOf' | 'rehearse' | 'tellOutage' | 'moved' | 'close'> {
  actor: Actor;
  /** Reads the actor's credential again, and refuses if it has ended. Unset without a credential. */
  authenticateAgain?: () => Promise<unknown>;
  /** The time of the request, read once, so that all its parts use the same time. */
  now: Date;
  requestId: string;
  /** The origin of the request, if it came over the network. */
  client: {
    address: string | null;
    userAgent: string | null;
    /** Whether the client has gone, so that the work for it may stop. */
    isGone?: () => boolean;
    /** What the request's cookies say of its session, unchecked. A sign-in replaces them. */
    shown?: {
      access: string | undefined;
      refresh: string | undefined;
      session: string | undefined;
    };
    /** The cookie that names the browser, unchecked. It outlives sign-out. */
    browser?: string | undefined;
  };
}

/** Creates a context with the current time and a new request id, but without a client's address. */
export function openContext(app: App, actor: Actor): Context {
  const client = { address: null, userAgent: null };
  return { ...app, actor, now: app.clock(), requestId: randomUUIDv7(), client };
}

/** Lets a long-running job stop early, and use the current time for each part of its work. */
export interface Turn {
  /** Aborted when the process must end. */
  stop: AbortSignal;
  /** Creates a context with the current time. */
  anew(): Context;
  /** Call it once the run has found and reserved its work. Then the next run may begin. */
  found?(): void;
}
