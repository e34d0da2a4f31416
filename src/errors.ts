import { fileFault } from './host/file-fault.ts';
import type { Next } from './next.ts';
import type { Failure, Reason, ScimType } from './reasons.ts';

/** The class of a refusal. HTTP and the command line map a kind to a status or an exit code. */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'method'
  | 'conflict'
  | 'pending'
  | 'precondition'
  | 'tooLarge'
  | 'mediaType'
  | 'limited'
  | 'upstream'
  | 'overloaded';

/** The closed table of refusal codes. A code is public and never changes its meaning. */
export const refusals = {
  invalid_input: { kind: 'invalid', title: 'Invalid input' },
  invalid_json: { kind: 'invalid', title: 'Unparsable body' },
  unsupported_grant_type: { kind: 'invalid', title: 'Grant type not supported' },
  malformed_request: { kind: 'invalid', title: 'Malformed request' },
  unauthenticated: { kind: 'unauthenticated', title: 'Authentication required' },
  invalid_credential: { kind: 'unauthenticated', title: 'Credential not accepted' },
  invalid_client: { kind: 'unauthenticated', title: 'Client not accepted' },
  second_factor_required: { kind: 'unauthenticated', title: 'Second factor needed' },
  second_factor_invalid: { kind: 'unauthenticated', title: 'Second factor not accepted' },
  code_invalid: { kind: 'unauthenticated', title: 'Code not accepted' },
  signin_failed: { kind: 'unauthenticated', title: 'Sign-in failed' },
  forbidden: { kind: 'forbidden', title: 'Not allowed' },
  session_required: { kind: 'forbidden', title: 'Session required' },
  recent_sign_in_required: { kind: 'forbidden', title: 'Recent sign-in required' },
  scope_required: { kind: 'forbidden', title: 'Token scope too small' },
  email_unverified: { kind: 'forbidden', title: 'E-mail address not verified' },
  signin_method_off: { kind: 'forbidden', title: 'Sign-in method switched off' },
  signup_closed: { kind: 'forbidden', title: 'Sign-up not open' },
  not_confirmed: { kind: 'forbidden', title: 'Not confirmed' },
  origin_refused: { kind: 'forbidden', title: 'Cross-site request refused' },
  not_found: { kind: 'missing', title: 'Not found' },
  route_not_found: { kind: 'missing', title: 'No such route' },
  setup_link_invalid: { kind: 'missing', title: 'Setup link not valid' },
  invitation_invalid: { kind: 'missing', title: 'Invitation not valid' },
  sso_not_configured: { kind: 'missing', title: 'No single sign-on for this domain' },
  social_not_configured: { kind: 'missing', title: 'Not offered here' },
  method_not_allowed: { kind: 'method', title: 'Method not allowed' },
  passkeys_unavailable: { kind: 'conflict', title: 'No passkeys at this address' },
  setup_link_used: { kind: 'conflict', title: 'Setup link opened in another browser' },
  operator_needed: { kind: 'conflict', title: 'Only the operator can do this' },
  last_way_in: { kind: 'conflict', title: 'No other way to sign in' },
  already_exists: { kind: 'conflict', title: 'Already exists' },
  exists_differently: { kind: 'conflict', title: 'Exists with other settings' },
  conflict: { kind: 'conflict', title: 'Conflict' },
  address_managed: { kind: 'conflict', title: 'Address managed by an organization' },
  mail_not_configured: { kind: 'conflict', title: 'No mail on this instance' },
  sign_in_first: { kind: 'conflict', title: 'Sign in first' },
  groups_unknown: { kind: 'conflict', title: 'Groups not known' },
  invite_instead: { kind: 'conflict', title: 'Invitation needed' },
  last_owner: { kind: 'conflict', title: 'No other owner' },
  owners_locked_out: { kind: 'conflict', title: 'No owner could sign in' },
  cap_reached: { kind: 'conflict', title: 'Cap reached' },
  domain_taken: { kind: 'conflict', title: 'Domain verified by another organization' },
  domain_shared: { kind: 'conflict', title: 'Domain shared by many organizations' },
  domain_unverified: { kind: 'conflict', title: 'Domain not verified' },
  domain_not_verified: { kind: 'pending', title: 'Domain not verified yet' },
  connection_changed: { kind: 'conflict', title: 'Connection changed' },
  plan_outdated: { kind: 'conflict', title: 'Changed since the plan' },
  version_mismatch: { kind: 'precondition', title: 'Changed in the meantime' },
  secret_required: { kind: 'conflict', title: 'Secret required again' },
  payload_too_large: { kind: 'tooLarge', title: 'Body too large' },
  unsupported_media_type: { kind: 'mediaType', title: 'Unsupported media type' },
  too_many_requests: { kind: 'limited', title: 'Too many requests' },
  server_failed: { kind: 'upstream', title: 'Server not usable' },
  upstream_failed: { kind: 'upstream', title: 'Upstream failed' },
  outbound_refused: { kind: 'upstream', title: 'Address not allowed' },
  resolver_failed: { kind: 'upstream', title: 'Resolver failed' },
  provider_failed: { kind: 'upstream', title: 'Identity provider failed' },
  provider_refused: { kind: 'unauthenticated', title: 'Identity provider answer not accepted' },
  database_unreachable: { kind: 'overloaded', title: 'Database not reachable' },
  database_busy: { kind: 'overloaded', title: 'Database busy' },
  database_full: { kind: 'overloaded', title: 'Disk full' },
  overloaded: { kind: 'overloaded', title: 'Too busy' },
  listen_failed: { kind: 'overloaded', title: 'Cannot listen' },
  not_ready: { kind: 'overloaded', title: 'Not ready' },
  config_invalid: { kind: 'invalid', title: 'Invalid configuration' },
  key_invalid: { kind: 'overloaded', title: 'Master key not usable' },
  scim_invalid: { kind: 'invalid', title: 'SCIM request not accepted' },
  backup_invalid: { kind: 'conflict', title: 'Backup not usable' },
  database_moved: { kind: 'overloaded', title: 'Database moved' },
  schema_newer: { kind: 'overloaded', title: 'Database written by a newer idctl' },
} as const satisfies Record<string, { kind: RefusalKind; title: string }>;

/** A code of the closed table. */
export type RefusalCode = keyof typeof refusals;

/** Ends the work for a client that has closed its connection. */
export class ClientGone extends Error {}

/** One refused field of the input. `path` is dotted, as the caller spelled it. */
export interface InputFault {
  path: string;
  message: string;
  /** The line of the file, if the input came from one. */
  line?: number;
}

/** The maximum number of faults that a refusal names (security X11). */
export const maxFaults = 20;

/** The maximum number of faults that are counted. A check of a long list stops there. */
export const maxCounted = 100;

interface RefusalOptions {
  /** What to do next. The door that shows the refusal turns it into words. */
  hint?: Next | undefined;
  /** The refused fields, such as for `invalid_input`. */
  faults?: InputFault[];
  /** The number of further faults, which `faults` leaves out. */
  moreFaults?: number;
  /** Seconds until a new attempt can succeed, for `limited` and `overloaded`. */
  retryAfter?: number | undefined;
  /** More public members of the problem object. */
  extra?: Record<string, unknown>;
  /** A token for the caller to continue with. HTTP sends it in a cookie, never in a body. */
  continuation?: string | undefined;
  /** The value of the cookie that binds the passkey challenge in `extra` to this browser. */
  browser?: string | undefined;
  /** Why a person or client was refused, for the log and the event. No client sees it. */
  reason?: Reason | undefined;
  /** How another server failed. No client sees it, unless `extra` has it too. */
  failure?: Failure | undefined;
  /** The error type that the SCIM API shows. */
  scimType?: ScimType | undefined;
  /** The error behind the refusal, for the log and the operator. No client sees it. */
  cause?: unknown;
}

/** A refusal: what happened, and what to do next. Any other thrown error is a bug. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly hint: Next | undefined;
  readonly faults: InputFault[];
  readonly moreFaults: number;
  readonly retryAfter: number | undefined;
  readonly extra: Record<string, unknown>;
  readonly continuation: string | undefined;
  readonly browser: string | undefined;
  readonly reason: Reason | undefined;
  readonly failure: Failure | undefined;
  readonly scimType: ScimType | undefined;

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.hint = options.hint;
    this.faults = options.faults ?? [];
    this.moreFaults = options.moreFaults ?? 0;
    this.retryAfter = options.retryAfter;
    this.extra = options.extra ?? {};
    this.continuation = options.continuation;
    this.browser = options.browser;
    this.reason = options.reason;
    this.failure = options.failure;
    this.scimType = options.scimType;
  }

  /** The class of the refusal. */
  get kind(): RefusalKind {
    return refusals[this.code].kind;
  }
}

/**
 * The refusal of these fields. Names the first ones, and says how many more there are (security
 * X11).
 */
export function refuseFaults(
  given: InputFault[],
  { code = 'invalid_input', hint, moreFaults = 0 }: FaultOptions = {},
): Refusal {
  const faults = given.slice(0, maxFaults);
  const more = given.length - faults.length + moreFaults;
  const words = faults.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const message = [...words, ...moreWords(more)].join('; ');
  return new Refusal(code, message, { faults, hint, moreFaults: more });
}

interface FaultOptions extends Pick<RefusalOptions, 'hint' | 'moreFaults'> {
  code?: RefusalCode;
}

/** Says how many faults a refusal leaves out; empty for none. */
export function moreWords(more: number): string[] {
  if (more === 0) return [];
  return [`and ${more + maxFaults >= maxCounted ? 'at least ' : ''}${more} more`];
}

/** The refusal of one input field, worded like the refusals of `parse`. */
export function refuseField(path: string, message: string, hint?: Next): Refusal {
  return new Refusal('invalid_input', `${path}: ${message}`, {
    faults: [{ path, message }],
    hint,
  });
}

/**
 * Only for the operator: adds why the database cannot be reached, in the words of the root error.
 * Other refusals stay unchanged.
 */
export function withReason(refusal: Refusal): Refusal {
  if (refusal.code !== 'database_unreachable') return refusal;
  const reason = reasonOf(rootOf(refusal));
  if (reason === '' || reason === refusal.message) return refusal;
  const { code, hint, extra } = refusal;
  const message = `${refusal.message.replace(/\.$/, '')}: ${reason}`;
  return new Refusal(code, message, { extra, hint });
}

/**
 * Names the path and the fault if a database file could not be opened. For other errors, returns
 * the first line of the message.
 */
function reasonOf(root: Error): string {
  const path =
    'path' in root && 'syscall' in root && root.syscall === 'open' ? root.path : undefined;
  if (typeof path === 'string') return `${path} ${fileFault(root, 'written')}`;
  return root.message.split('\n')[0] ?? '';
}

/** The innermost cause. For an AggregateError, follows only its first error. */
function rootOf(error: Error): Error {
  let root = error;
  for (let depth = 0; depth < 10; depth += 1) {
    const below = root instanceof AggregateError ? root.errors[0] : causeOf(root);
    if (!(below instanceof Error)) return root;
    root = below;
  }
  return root;
}

/** Sequelize calls the cause `parent`. */
function causeOf(error: Error): unknown {
  return 'parent' in error && error.parent instanceof Error ? error.parent : error.cause;
}
