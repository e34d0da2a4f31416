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
  redeem(client: ProviderClient & { clientSecret: string }, response: AuthorizationResponse): Promise<Proof>;
  /**
   * Looks at a provider for whoever sets it up, within 10 s: each step that could be run, in order, in fixed sentences
   * (security S8). `now` is our time, with which the provider's is compared. A step that fails is no refusal.
   */
  examineProvider(client: ProviderClient & { clientSecret: string }, now: Date): Promise<ExaminedStep[]>;
  /** Closes pooled connections. */
  close(): Promise<void>;
}

/** A resolver's answer. Only values whose owner is the queried name itself are listed, each joined whole. */
export interface TxtAnswer {
  /** The response code by name: NOERROR, NXDOMAIN, SERVFAIL, … */
  rcode: string;
  truncated: boolean;
  values: string[];
}

/** The client that a connection registered at its provider. */
export interface ProviderClient {
  /** Exactly as the provider spells it: a slash at the end counts. */
  issuer: string;
  clientId: string;
  /** Without a query: the library sends none at the token endpoint. */
  redirectUri: string;
}

/** One step of an examination. */
export interface ExaminedStep {
  name: string;
  ok: boolean;
  expected: string;
  seen: string;
  /** The one thing to change; on a step that is ok, what it could not see. */
  hint?: string;
}

/** What one sign-in binds to the authorization request. */
interface AuthorizationRequest {
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
}
