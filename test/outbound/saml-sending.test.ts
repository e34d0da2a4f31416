import { createPrivateKey, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { SignedXml } from 'xml-crypto';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { writeMetadata } from '../../src/outbound/saml/metadata.ts';
import { sendRequest } from '../../src/outbound/saml/request.ts';
import type { SamlTarget } from '../../src/outbound/saml/saml.ts';
import { samlNow } from '../support/saml-provider.ts';

const ours = await generateCertifiedKey('idctl', samlNow, 2048);
const signer = { privateKey: createPrivateKey(ours.privateKey), certificate: ours.certificate };
const target: SamlTarget = {
  ssoUrl: 'https://idp.example.test/sso?tenant=a&b',
  binding: 'redirect',
  entityId: 'https://id.example.test/auth/saml/acme/metadata',
  acsUrl: 'https://id.example.test/auth/saml/acme/acs',
  signer: null,
};
const request = { id: '_r1', relayState: 'a+b&c', now: samlNow };
const written =
  '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r1" Version="2.0" IssueInstant="2026-11-20T10:00:00.000Z" Destination="https://idp.example.test/sso?tenant=a&amp;b" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" AssertionConsumerServiceURL="https://id.example.test/auth/saml/acme/acs"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">https://id.example.test/auth/saml/acme/metadata</saml:Issuer></samlp:AuthnRequest>';

const locationOf = async (given: SamlTarget) => {
  const sending = await sendRequest(given, request);
  if (!('location' in sending)) throw new Error('not a redirect');
  return new URL(sending.location);
};

test('S11 a request goes by redirect, and does not name a format of the NameID or an authentication context', async () => {
  const { href, searchParams } = await locationOf(target);
  expect(href).toMatch(/^https:\/\/idp\.example\.test\/sso\?tenant=a&b&SAMLRequest=/);
  const packed = Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64');
  expect(inflateRawSync(packed).toString()).toBe(written);
  expect(searchParams.get('RelayState')).toBe('a+b&c');
  expect(searchParams.has('Signature')).toBe(false);
});

test('S11 where the provider wants it, a redirect is signed over its own characters', async () => {
  const { search, searchParams } = await locationOf({ ...target, signer });
  const text = /SAMLRequest=.*(?=&Signature=)/.exec(search)?.[0] ?? '';
  const signature = Buffer.from(searchParams.get('Signature') ?? '', 'base64');
  expect(text).toMatch(/^SAMLRequest=[^&]+&RelayState=a%2Bb%26c&SigAlg=[^&]+$/);
  expect(searchParams.get('SigAlg')).toBe('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256');
  const key = createPublicKey(ours.certificate);
  expect(verify('sha256', Buffer.from(text), key, signature)).toBe(true);
});

test('S11 if the provider offers only HTTP-POST, the request is a form, signed where it wants it', async () => {
  const posted = async (given: SamlTarget) => {
    const sending = await sendRequest(given, request);
    if (!('form' in sending)) throw new Error('not a form');
    const { action, fields } = sending.form;
    expect([action, fields['RelayState']]).toEqual([target.ssoUrl, 'a+b&c']);
    return Buffer.from(fields['SAMLRequest'] ?? '', 'base64').toString();
  };
  expect(await posted({ ...target, binding: 'post' })).toBe(written);
  const xml = await posted({ ...target, binding: 'post', signer });
  expect(xml).toMatch(/<\/saml:Issuer><ds:Signature /);
  const signed = new SignedXml({ publicCert: ours.certificate });
  signed.loadSignature(/<ds:Signature .*<\/ds:Signature>/.exec(xml)?.[0] ?? '');
  expect(signed.checkSignature(xml)).toBe(true);
  const canonical = signed.getSignedReferences().join();
  expect(canonical).toContain('ID="_r1"');
  expect(canonical).toContain(`AssertionConsumerServiceURL="${target.acsUrl}"`);
});

test('our metadata names the entity, the reply URL and the certificates, and no format of the NameID', () => {
  const { entityId, acsUrl } = target;
  const xml = writeMetadata({ entityId, acsUrl, signing: [ours.certificate], encryption: [] });
  expect(xml).toContain(`entityID="${entityId}"`);
  expect(xml).toContain(`Location="${acsUrl}"`);
  expect(xml).not.toMatch(/NameIDFormat|encryption|AuthnRequestsSigned/);
  const [, base64 = ''] = /<ds:X509Certificate>(.*)<\/ds:X509Certificate>/.exec(xml) ?? [];
  const certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  expect(certificate.checkPrivateKey(signer.privateKey)).toBe(true);
});

test('S11 our metadata has a key for encryption only if encrypted assertions are taken', () => {
  const { entityId, acsUrl } = target;
  const both = { entityId, acsUrl, signing: [ours.certificate], encryption: [ours.certificate] };
  expect(writeMetadata(both)).toContain('<md:KeyDescriptor use="encryption">');
});
