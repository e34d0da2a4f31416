import type { Step } from '../finding.ts';
import type { Failure } from './http.ts';

/** Everything idctl asks of the network goes through these calls. */
export interface Outbound {
  /**
   * The TXT records of exactly this domain, as the configured resolver gives them.
   * Refuses `resolver_failed` when the resolver cannot be reached or answers nonsense.
   */
  lookupTxt(domain: string): Promise<TxtAnswer>;
  /**
   * The address at the provider to which the person is sent (spec §4.1 start).
   * Refuses `provider_failed` (unreachable, malformed or another issuer's discovery) or `outbound_refused`.
   */
  authorizationUrl(client: ProviderClient, request: AuthorizationRequest): Promise<string>;
  /**
   * Redeems the authorization code and reads userinfo (spec §4.1 callback). Everything returned is validated.
   * Refuses `provider_failed`, `outbound_refused`, or `provider_refused` for an answer that must not be believed;
   * `extra` of the provider's refusals has `stage` and `reason`, both of closed sets, never the provider's words.
   */
  redeem(
    client: ProviderClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<Proof>;
  /** As `authorizationUrl`, at a social provider. */
  socialUrl(client: SocialClient, request: AuthorizationRequest): Promise<string>;
  /** Redeems the authorization code at a social provider, and answers what it says of the person; refuses as `redeem`. */
  redeemSocial(
    client: SocialClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<SocialWord>;
  /**
   * Looks at a provider for whoever sets it up, within 10 s: each step that could be run, in order, in fixed sentences
   * (security S8), but for the issuer that the provider names, when `showIssuer` says that the operator alone reads them.
   * `now` is our time, with which the provider's is compared. A step that fails is no refusal.
   */
  examineProvider(
    client: ProviderClient & { clientSecret: string },
    now: Date,
    showIssuer?: boolean,
  ): Promise<Step[]>;
  /** Begins a visit to a directory, which is over within 10 s; nothing is sent before it is asked for something. */
  visitDirectory(server: DirectoryServer): Promise<DirectoryVisit>;
  /**
   * Hands one message to the mail server of the configuration. Refuses `upstream_failed`, whose `extra` says `reason` and
   * `final`: that the server will never take it; `mail_not_configured` where there is none. `stop` ends it early. Answers
   * what the server said.
   */
  sendMail(message: MailMessage, stop?: AbortSignal): Promise<string>;
  /** Goes as far as a message would, TLS and sign-in, and sends none; refuses as `sendMail`. */
  greetMailServer(): Promise<void>;
  /**
   * Refuses `outbound_refused` for a URL that nothing would be sent to. The network is asked only for the name of a
   * host that is to be spoken with in plain http.
   */
  judgeUrl(url: string): Promise<void>;
  /**
   * Posts a message and answers the status, whatever comes with it; redirects are not followed. Refuses
   * `upstream_failed`, whose `extra` says `reason`, or `outbound_refused`.
   */
  postMessage(url: string, message: OutboundMessage): Promise<number>;
  /** What an address answers that the operator configured (the base URL, the resolver). Refuses `upstream_failed`. */
  reach(url: string): Promise<Reached>;
  /** Closes pooled connections. */
  close(): Promise<void>;
}

/** A message to one person, twice the same: for those who read HTML and those who do not. */
export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** What is posted to a tenant's URL. */
interface OutboundMessage {
  headers: Record<string, string>;
  body: string;
  /** Ends it early. */
  signal: AbortSignal;
}

/** A resolver's answer. Only values whose owner is the queried name itself are listed, each joined whole. */
export interface TxtAnswer {
  /** The response code by name: NOERROR, NXDOMAIN, SERVFAIL, … */
  rcode: string;
  truncated: boolean;
  values: string[];
}

/** What an address answered. */
interface Reached {
  status: number;
  body: string;
  /** What the other side's clock says; null when it does not tell. */
  date: Date | null;
}

/** The client that a connection registered at its provider. */
export interface ProviderClient {
  /** Exactly as the provider spells it: a slash at the end counts. */
  issuer: string;
  clientId: string;
  /** Without a query: the library sends none at the token endpoint. */
  redirectUri: string;
}

/** The client that the instance registered at a social provider. */
export interface SocialClient extends ProviderClient {
  provider: 'google' | 'github';
}

/** What a social provider says of who has signed in there. */
export interface SocialWord {
  issuer: string;
  subject: string;
  email: string | null;
  /** That the address is theirs. */
  emailVerified: boolean;
  /** The domain of the organization that manages their account at Google (`hd`); null where none does. */
  managedBy: string | null;
  name: string | null;
}

/** What one sign-in binds to the authorization request. */
export interface AuthorizationRequest {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** What came back to the redirect URI, with what the sign-in bound to the request. */
export interface AuthorizationResponse extends AuthorizationRequest {
  /** The query of the callback: `code`, `state`, `iss`, `error`, … */
  query: Record<string, string>;
}

/** Who the provider says has signed in. */
export interface Proof {
  issuer: string;
  /** Null when the provider gives neither ID token nor `sub` in userinfo. */
  subject: string | null;
  /** The claims of userinfo. */
  userinfo: Record<string, unknown>;
  /** The claims of the validated ID token; empty when the provider returned none. */
  idToken: Record<string, unknown>;
  /** The domain of the organization that manages their account at Google (`hd`); null where none does. */
  managedBy: string | null;
}

/** Where a directory is, and how it is talked with. */
export interface DirectoryServer {
  /** Such as `ldaps://ldap.example.com`. */
  uri: string;
  /** With `ldap://` it means StartTLS. */
  tls: boolean;
  /** What its TLS trusts, PEM; null means what this instance trusts. */
  caCertificate: string | null;
}

/**
 * Some questions to one directory, each over a connection of its own (security L5). All of them refuse
 * `upstream_failed`, whose `extra` says `at` and `reason`, or `outbound_refused`; what a directory says itself is an answer.
 */
export interface DirectoryVisit {
  /** Connects, and answers until when its certificate is valid; null without TLS. */
  greet(): Promise<{ validUntil: Date | null }>;
  /** Binds as the account that searches; then the entries that match, and whether there are more. References are not followed. */
  search(account: DirectoryAccount, query: DirectoryQuery): Promise<DirectoryAnswer<FoundEntries>>;
  /** Binds with this DN, exactly as it was received, and this password, which must not be empty. */
  prove(account: DirectoryAccount): Promise<DirectoryAnswer<null>>;
}

export interface DirectoryAccount {
  dn: string;
  password: string;
}

export interface DirectoryQuery {
  base: string;
  scope: 'base' | 'sub';
  /** RFC 4515. */
  filter: string;
  attributes: string[];
  /** How many entries are asked for at most. */
  limit: number;
}

export interface FoundEntries {
  entries: DirectoryEntry[];
  /** There are more than those. */
  more: boolean;
}

export interface DirectoryEntry {
  dn: string;
  /** By names in lower case; what is no text, and objectGUID, in bytes. */
  attributes: Map<string, (string | Buffer)[]>;
}

/** What a directory answered, or why it would not, with the result code of RFC 4511. */
export type DirectoryAnswer<T> =
  | { ok: true; value: T }
  | { ok: false; at: 'bind' | 'search'; reason: DirectoryReason; code: number };

/** Why a directory refused what it understood; the codes of Active Directory are told apart. */
export type DirectoryReason =
  | 'credentials_refused'
  | 'user_unknown'
  | 'wrong_password'
  | 'logon_hours'
  | 'workstation'
  | 'password_expired'
  | 'account_disabled'
  | 'account_expired'
  | 'must_change_password'
  | 'account_locked'
  | 'stronger_auth_required'
  | 'encryption_required'
  | 'dn_malformed'
  | 'anonymous_refused'
  | 'not_permitted'
  | 'base_missing'
  | 'bind_required'
  | 'referred'
  | 'limit_exceeded'
  | 'refused';

/** Where a directory could not be talked with. */
export type DirectoryPlace = 'name' | 'connection' | 'TLS' | 'answer';

/** Why a directory could not be talked with. */
export type DirectoryFailure = Failure | 'closed' | 'malformed' | 'starttls_refused' | 'busy';
