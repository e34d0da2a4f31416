import { inflateRawSync } from 'node:zlib';
import type { SamlMetadata } from '../../src/outbound/saml/saml.ts';
import { metadataText } from '../../src/services/tenancy/sso/metadata-text.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, type Operated, organization, verifiedDomain } from './builders.ts';
import type { Answer, Client } from './http.ts';
import { samlProvider } from './saml-provider.ts';

/** What a response of the provider says. */
export type Says = NonNullable<Parameters<Awaited<ReturnType<typeof samlProvider>>['respond']>[0]>;

/** The metadata of a provider of the tests, as text. */
export function providerMetadata(certificate: string, more: Partial<SamlMetadata> = {}): string {
  const fingerprint = '';
  return metadataText({
    entityId: 'https://idp.example.test/saml',
    ssoUrl: 'https://idp.example.test/sso',
    binding: 'redirect',
    wantsSignedRequests: false,
    ...more,
    certificates: [{ pem: certificate, fingerprint, notAfter: '' }],
  });
}

/** Creates an organization with a verified domain and an enabled connection by SAML. */
export async function samlConnected(idctl: Operated, more: Record<string, unknown> = {}) {
  const provider = await samlProvider();
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const input = saveSsoInput.parse({
    org: org.slug,
    kind: 'saml',
    emailDomain: domain,
    metadataXml: providerMetadata(provider.key.certificate),
    enabled: true,
    ...more,
  });
  const connection = await saveSso(idctl.operator(), input);
  return { org, domain, connection };
}

/** A person as the provider names them. */
export interface SamlPerson {
  email?: string | string[];
  subject?: string;
  groups?: string[];
  /** The XML of all attributes, in place of address and groups. */
  attributes?: string;
}

export function attribute(name: string, values: string[], friendlyName?: string): string {
  const friendly = friendlyName === undefined ? '' : ` FriendlyName="${friendlyName}"`;
  const inner = values.map((one) => `<saml:AttributeValue>${one}</saml:AttributeValue>`);
  return `<saml:Attribute Name="${name}"${friendly}>${inner.join('')}</saml:Attribute>`;
}

/** Starts a sign-in by SAML. Returns the id of the request, and its RelayState. */
export async function startSaml(client: Client, domain: string, more = '') {
  const answer = await client.get(`/auth/sso/start?domain=${domain}${more}`);
  if (answer.status !== 200)
    throw new Error(`start answered ${answer.status} ${JSON.stringify(answer.body)}`);
  const url = new URL(answer.body.authorizationUrl);
  const request = inflateRawSync(
    Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64'),
  ).toString();
  const id = / ID="([^"]+)"/.exec(request)?.[1] ?? '';
  return { url, request, id, relayState: url.searchParams.get('RelayState') ?? undefined };
}

/** The provider's answer to the request of the organization's browser, as a form field. */
export async function answerTo(
  idctl: Operated & { baseUrl: string },
  {
    org,
    requestId,
    person,
    says = {},
  }: {
    org: string;
    requestId: string;
    person: SamlPerson;
    says?: Says;
  },
): Promise<string> {
  const provider = await samlProvider();
  const at = `${idctl.baseUrl}/auth/saml/${org}`;
  Object.assign(provider.connection, { entityId: `${at}/metadata`, acsUrl: `${at}/acs` });
  const addresses = [person.email ?? []].flat();
  const attributes =
    person.attributes ??
    attribute('email', addresses) + (person.groups ? attribute('groups', person.groups) : '');
  const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
  const subject = person.subject ?? fresh('sub');
  const id = fresh('_a');
  const named = (xml: string) => xml.replace(/InResponseTo="[^"]*"/, `InResponseTo="${requestId}"`);
  return provider.respond({
    nameId: `<saml:NameID Format="${format}">${subject}</saml:NameID>`,
    attributes,
    // The clock of a test may be ahead.
    now: idctl.operator().now,
    ...says,
    assertion: (xml) =>
      (says.assertion ?? same)(named(xml).replace('ID="_assertion1"', `ID="${id}"`)),
    response: (xml) => (says.response ?? same)(named(xml)),
  });
}

const same = (xml: string) => xml;

/** Posts the answer as a page of the provider does, without cookies. */
export function postAnswer(
  client: Client,
  org: string,
  response: string,
  relayState?: string,
): Promise<Answer> {
  const fields = { SAMLResponse: response, ...(relayState && { RelayState: relayState }) };
  const crossSite = {
    origin: 'https://idp.example.test',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    accept: 'text/html,application/xhtml+xml',
  };
  return client.form(`/auth/saml/${org}/acs`, fields, crossSite);
}

/** Runs a whole sign-in by SAML. */
export async function signInBySaml(
  idctl: Operated & { baseUrl: string; client(options?: { keepCookies?: boolean }): Client },
  { org, domain }: { org: { id: string }; domain: string },
  person: SamlPerson,
  more: { query?: string; says?: Says; client?: Client } = {},
) {
  const client = more.client ?? idctl.client({ keepCookies: true });
  const { id, relayState } = await startSaml(client, domain, more.query);
  const response = await answerTo(idctl, {
    ...{ org: org.id, requestId: id, person },
    ...(more.says && { says: more.says }),
  });
  const posted = await postAnswer(idctl.client(), org.id, response, relayState);
  const at = String(posted.headers['location'] ?? '');
  const answer = posted.status === 302 ? await client.get(at) : posted;
  return { client, id, response, posted, at, answer };
}
