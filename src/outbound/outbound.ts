import type { Finding, Step } from '../finding.ts';
import type { DirectoryServer, DirectoryVisit } from './directory/directory.ts';

/** All network requests of idctl go through these calls. */
export interface Outbound {
  /** The TXT records of exactly this domain. Refuses `resolver_failed` without a sound answer. */
  lookupTxt(domain: string): Promise<TxtAnswer>;
  /**
   * The provider's URL to send the person to (spec §4.1 start). Refuses `provider_failed`
   * (unreachable, malformed or another issuer's discovery) or `outbound_refused`.
   */
  authorizationUrl(client: ProviderClient, request: AuthorizationRequest): Promise<string>;
  /**
   * Redeems the authorization code and reads userinfo (spec §4.1 callback). All results are
   * validated. Refuses `provider_failed`, `outbound_refused`, or `provider_refused` for an answer
   * that must not be trusted. `extra` of the provider's refusals has `stage` and `reason`, both
   * from closed sets, never the provider's words.
   */
  redeem(
    client: ProviderClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<Proof>;
  /** Like `authorizationUrl`, for a social provider. */
  socialUrl(client: SocialClient, request: AuthorizationRequest): Promise<string>;
  /** Redeems the code at a social provider, for the person's data. Refuses like `redeem`. */
  redeemSocial(
    client: SocialClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<SocialWord>;
  /**
   * Examines a provider for the person who configures it, within 10 s. Runs each possible step in
   * order, and answers in fixed sentences (security S8). With `showIssuer`, for the operator only,
   * the result names the issuer that the provider claims. `now` is our time, to compare with the
   * provider's. A failed step is no refusal.
   */
  examineProvider(
    client: ProviderClient & { clientSecret: string },
    now: Date,
    showIssuer?: boolean,
  ): Promise<Step[]>;
  /**
   * Whether the host of an address can be found. If browsers alone go there, it is a note that
   * idctl may not. If `isOurs`, idctl goes there, and it is a fault.
   */
  examineAddress(asked: { url: URL; now: Date; isOurs: boolean }): Promise<Finding>;
  /** Begins a visit to a directory, limited to 10 s. Nothing is sent before the first question. */
  visitDirectory(server: DirectoryServer): Promise<DirectoryVisit>;
  /**
   * Hands one message to the configured mail server and returns its answer. `stop` ends it early.
   * Refuses `upstream_failed`; `extra` has `reason`, and `final` if the server will never accept
   * the message. Refuses `mail_not_configured` without a server.
   */
  sendMail(message: MailMessage, stop?: AbortSignal): Promise<string>;
  /** Connects and signs in like for a message, but sends none. Refuses like `sendMail`. */
  greetMailServer(): Promise<void>;
  /** Refuses `outbound_refused` for a URL that idctl never sends to. Looks up hosts of plain http. */
  judgeUrl(url: string): Promise<void>;
  /** Posts a message; returns the status. Refuses `upstream_failed` or `outbound_refused`. */
  postMessage(url: string, message: OutboundMessage): Promise<number>;
  /** The answer of an address that the operator configured. Refuses `upstream_failed`. */
  reach(url: string): Promise<Reached>;
  /** Closes pooled connections. */
  close(): Promise<void>;
}

/** A message to one person, as HTML and as plain text. */
export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** A message to post to a tenant's URL. */
interface OutboundMessage {
  headers: Record<string, string>;
  body: string;
  /** Ends it early. */
  signal: AbortSignal;
}

/** A resolver's answer, with values owned by the queried name itself, each joined whole. */
export interface TxtAnswer {
  /** The response code by name: NOERROR, NXDOMAIN, SERVFAIL, … */
  rcode: string;
  truncated: boolean;
  values: string[];
}

/** The response from a configured URL. */
interface Reached {
  status: number;
  body: string;
  /** The server's time; null if it sends none. */
  date: Date | null;
}

/** The client that a connection registered at its provider. */
export interface ProviderClient {
  /** Exactly as the provider spells it: a trailing slash matters. */
  issuer: string;
  clientId: string;
  /** Without a query: the library sends none at the token endpoint. */
  redirectUri: string;
}

/** The client that the instance registered at a social provider. */
export interface SocialClient extends ProviderClient {
  provider: 'google' | 'github';
}

/** A social provider's data about the person who signed in. */
export interface SocialWord {
  issuer: string;
  subject: string;
  email: string | null;
  /** Whether the provider verified the address. */
  emailVerified: boolean;
  /** The domain of the organization that manages their account at Google (`hd`), or null. */
  managedBy: string | null;
  name: string | null;
}

/** The values that a sign-in binds to the authorization request. */
export interface AuthorizationRequest {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The callback to the redirect URI, with the values that the sign-in bound to the request. */
export interface AuthorizationResponse extends AuthorizationRequest {
  /** The query of the callback: `code`, `state`, `iss`, `error`, … */
  query: Record<string, string>;
}

/** The provider's proof of the person who signed in. */
export interface Proof {
  issuer: string;
  /** Null if the provider gives neither ID token nor `sub` in userinfo. */
  subject: string | null;
  /** The claims of userinfo. */
  userinfo: Record<string, unknown>;
  /** The claims of the validated ID token; empty when the provider returned none. */
  idToken: Record<string, unknown>;
  /** The domain of the organization that manages their account at Google (`hd`), or null. */
  managedBy: string | null;
}
