import type { KeyObject } from 'node:crypto';

/** The SAML 2.0 part of a connection: metadata, requests and responses (security S11). */
export interface Saml {
  /**
   * Reads a provider's metadata. Refuses with `provider_failed` at the stage `metadata`, or with
   * `outbound_refused` for a plain http address that the operator does not allow.
   */
  readMetadata(xml: string): Promise<SamlMetadata>;
  /** Requests metadata at an https URL, and reads it. Refuses also like any other request. */
  fetchMetadata(url: string): Promise<{ xml: string; metadata: SamlMetadata }>;
  /** Our own metadata as XML, for the provider. */
  ourMetadata(we: OurMetadata): Promise<string>;
  /** The authentication request, as a redirect or as a form to post. */
  request(target: SamlTarget, request: SamlRequest): Promise<SamlSending>;
  /**
   * The id of the request that a response names, unverified; null if it names none. Reads only the
   * first tag, and refuses like `verify` if it is not that of a response.
   */
  inResponseTo(response: string): Promise<string | null>;
  /**
   * Verifies a response, as the form field `SAMLResponse`. Refuses with `provider_refused` at the
   * stage `response` or `assertion`. The caller checks the rest: that the request is live, that the
   * assertion is new, and the domain of the address.
   */
  verify(connection: SamlConnection, response: string, expected: Expected): Promise<SamlProof>;
}

/** What idctl reads in a provider's metadata. */
export interface SamlMetadata {
  entityId: string;
  ssoUrl: string;
  binding: 'redirect' | 'post';
  certificates: SamlCertificate[];
  wantsSignedRequests: boolean;
}

/** A certificate that the provider signs with. An expired one still counts. */
export interface SamlCertificate {
  pem: string;
  /** SHA-256, as hexadecimal bytes with colons. */
  fingerprint: string;
  notAfter: Date;
}

/** The facts of our metadata. Certificates are PEM. */
export interface OurMetadata {
  entityId: string;
  acsUrl: string;
  signing: string[];
  /** Empty if the connection does not take encrypted assertions. */
  encryption: string[];
}

/** Where a request goes, and who sends it. */
export interface SamlTarget extends Pick<SamlMetadata, 'ssoUrl' | 'binding'> {
  /** Our own entity id. */
  entityId: string;
  acsUrl: string;
  /** Null if the provider does not want signed requests. */
  signer: SamlSigner | null;
}

/** A key that signs requests, and its certificate as PEM. */
export interface SamlSigner {
  privateKey: KeyObject;
  certificate: string;
}

/** An authentication request. */
export interface SamlRequest {
  /** An XML name, so it does not start with a digit. */
  id: string;
  relayState: string;
  now: Date;
}

/** How the browser brings a request to the provider. */
export type SamlSending =
  | { location: string }
  | { form: { action: string; fields: Record<string, string> } };

/** The connection that a response must belong to. */
export interface SamlConnection {
  /** Responses of one tenant do not delay those of others (security O15). */
  tenant: string;
  /** Its certificates are PEM. */
  provider: { entityId: string; certificates: string[] };
  /** Our own entity id: the audience. */
  entityId: string;
  acsUrl: string;
  /** The attribute that identifies the person in place of the NameID. */
  subjectAttribute: string | null;
  /** Empty if the connection does not take encrypted assertions. */
  decryptionKeys: KeyObject[];
}

/** What the response must say. */
export interface Expected {
  requestId: string;
  now: Date;
}

/** A verified assertion. */
export interface SamlProof {
  /** The provider's entity id. */
  issuer: string;
  subject: string;
  nameId: { value: string; format: string } | null;
  attributes: SamlAttribute[];
  assertionId: string;
  /** From then on, this assertion is refused as expired. */
  assertionEndsAt: Date;
}

/** An attribute with its text values, in order. */
export interface SamlAttribute {
  name: string;
  friendlyName: string | null;
  values: string[];
}
