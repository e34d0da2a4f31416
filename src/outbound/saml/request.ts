import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { escapedHtml } from '../../text/escape.ts';
import { bindings, enveloped, exclusive, ns, rsaSha256, sha256 } from './names.ts';
import type { SamlRequest, SamlSending, SamlSigner, SamlTarget } from './saml.ts';

const deflated = promisify(deflateRaw);

/** The authentication request on its way to the provider (security S11). */
export async function sendRequest(target: SamlTarget, request: SamlRequest): Promise<SamlSending> {
  const { ssoUrl, binding, signer } = target;
  const xml = writeRequest(target, request);
  const { relayState } = request;
  if (binding === 'redirect') {
    const packed = (await deflated(xml)).toString('base64');
    const query = signedQuery({ SAMLRequest: packed, RelayState: relayState }, signer);
    return { location: `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}${query}` };
  }
  const text = signer === null ? xml : signedRequest(xml, signer);
  const SAMLRequest = Buffer.from(text).toString('base64');
  return { form: { action: ssoUrl, fields: { SAMLRequest, RelayState: relayState } } };
}

// The request names neither a format of the NameID nor a way to authenticate. The provider decides
// both, and many refuse a request that names one they do not expect.
function writeRequest({ ssoUrl, entityId, acsUrl }: SamlTarget, { id, now }: SamlRequest): string {
  const attributes = {
    'xmlns:samlp': ns.protocol,
    ID: id,
    Version: '2.0',
    IssueInstant: now.toISOString(),
    Destination: ssoUrl,
    ProtocolBinding: bindings.post,
    AssertionConsumerServiceURL: acsUrl,
  };
  const written = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${escapedHtml(value)}"`,
  );
  const issuer = `<saml:Issuer xmlns:saml="${ns.assertion}">${escapedHtml(entityId)}</saml:Issuer>`;
  return `<samlp:AuthnRequest${written.join('')}>${issuer}</samlp:AuthnRequest>`;
}

/** The query with its signature (SAML bindings §3.4.4.1): over exactly these characters. */
function signedQuery(fields: Record<string, string>, signer: SamlSigner | null): string {
  const encode = (all: Record<string, string>) =>
    Object.entries(all)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  if (signer === null) return encode(fields);
  const text = encode({ ...fields, SigAlg: rsaSha256 });
  const signature = sign('sha256', Buffer.from(text), signer.privateKey).toString('base64');
  return `${text}&${encode({ Signature: signature })}`;
}

function signedRequest(xml: string, { privateKey, certificate }: SamlSigner): string {
  const signed = new SignedXml({
    privateKey,
    publicCert: certificate,
    signatureAlgorithm: rsaSha256,
    canonicalizationAlgorithm: exclusive,
  });
  signed.addReference({
    xpath: '/*',
    transforms: [enveloped, exclusive],
    digestAlgorithm: sha256,
  });
  signed.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: "/*/*[local-name(.)='Issuer']", action: 'after' },
  });
  return signed.getSignedXml();
}
