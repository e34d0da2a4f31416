import type { Finding, Step } from '../finding.ts';
import type { DirectoryClient, DirectoryServer } from './directory/directory.ts';
import type { Saml } from './saml/saml.ts';

/** All network access of idctl, except to its database and in `src/cli`. */
export interface Outbound {
  /**
   * The TXT records of exactly this domain. Refuses with `resolver_failed` without a valid answer.
   */
  lookupTxt(domain: string): Promise<TxtAnswer>;
  /**
   * The URL at the identity provider to send the person to (spec §4.1 start). Refuses with
   * `provider_failed` (unreachable, malformed, or another issuer) or `outbound_refused`.
   */
  authorizationUrl(client: ProviderClient, request: AuthorizationRequest): Promise<string>;
  /**
   * Redeems the authorization code and reads userinfo (spec §4.1 callback). Validates all results.
   * Refuses with `provider_failed`, `outbound_refused`, or `provider_refused` for a response that
   * must not be trusted. `extra` has `stage` and `reason`, both from fixed lists, never the
   * provider's own words.
   */
  redeem(
    client: ProviderClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<Proof>;
  /** SAML connections. Only two of its methods use the network. */
  saml: Saml;
  /** Like `authorizationUrl`, but for a social provider. */
  socialUrl(client: SocialClient, request: AuthorizationRequest): Promise<string>;
  /** Redeems the code at a social provider, for the person's data. Refuses like `redeem`. */
  redeemSocial(
    client: SocialClient & { clientSecret: string },
    response: AuthorizationResponse,
  ): Promise<SocialWord>;
  /**
   * Examines an identity provider for the person who configures it, within 10 s. Runs every
   * possible step in order, and reports with fixed sentences (security S8). With `showIssuer`, only
   * for the operator, it names the issuer that the provider claims. `now` is compared with the
   * provider's time. A failed step is not a refusal.
   */
  examineProvider(
    client: ProviderClient & { clientSecret: string },
    now: Date,
    showIssuer?: boolean,
  ): Promise<Step[]>;
  /**
   * Whether the host name of a URL can be resolved. If `isOurs`, idctl itself connects to the URL,
   * so a failure is a fault. Otherwise only browsers open the URL, and a failure only adds a hint.
   */
  examineAddress(asked: { url: URL; now: Date; isOurs: boolean }): Promise<Finding>;
  /**
   * Starts a visit to a directory, limited to 10 s in all. Each of its calls opens a new
   * connection.
   */
  directoryClient(server: DirectoryServer): Promise<DirectoryClient>;
  /**
   * Sends one message through the configured mail server and returns the server's answer. `stop`
   * aborts it. Refuses with `upstream_failed`: `extra` has `reason`, and `final` if the server will
   * never accept the message. Refuses with `mail_not_configured` without a server.
   */
  sendMail(message: MailMessage, stop?: AbortSignal): Promise<string>;
  /** Connects and authenticates like `sendMail`, but does not send a message. Same refusals. */
  greetMailServer(): Promise<void>;
  /**
   * Refuses with `outbound_refused` for a URL that may not be requested. Looks up an http:// host.
   */
  judgeUrl(url: string): Promise<void>;
  /** Posts a message; returns the status. Refuses with `upstream_failed` or `outbound_refused`. */
  postMessage(url: string, message: OutboundMessage): Promise<number>;
  /** Requests a URL that the operator configured. Refuses with `upstream_failed`. */
  reach(url: string): Promise<Reached>;
  /** Closes pooled connections. */
  close(): Promise<void>;
}

/** A mail to one person, as HTML and as plain text. */
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
  /** Aborts the request. */
  signal: AbortSignal;
}

/** A resolver's answer. Has the joined TXT values whose owner is the queried name itself. */
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
  /** The server's time; null if it does not send one. */
  date: Date | null;
}

/** A connection's client at its identity provider. */
export interface ProviderClient {
  /** Exactly as the provider writes it, including a trailing slash. */
  issuer: string;
  clientId: string;
  /** Without a query: the library omits the query at the token endpoint. */
  redirectUri: string;
}

/** The instance's client at a social provider. */
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
  /** The domain of the Google Workspace that manages the account (`hd`), or null. */
  managedBy: string | null;
  name: string | null;
}

/** Values that bind the sign-in to its authorization request. */
export interface AuthorizationRequest {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The callback to the redirect URI, with the values bound to the request. */
export interface AuthorizationResponse extends AuthorizationRequest {
  /** The query of the callback: `code`, `state`, `iss`, `error`, … */
  query: Record<string, string>;
}

/** The provider's proof of the person who signed in. */
export interface Proof {
  issuer: string;
  /** Null if neither an ID token nor userinfo contains `sub`. */
  subject: string | null;
  /** The userinfo claims. */
  userinfo: Record<string, unknown>;
  /** The claims of the validated ID token; empty if the provider returned none. */
  idToken: Record<string, unknown>;
  /** The domain of the Google Workspace that manages the account (`hd`), or null. */
  managedBy: string | null;
}
