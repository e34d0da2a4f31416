import { expect, test } from 'vitest';
import { verifyInThread } from '../../src/outbound/saml/thread.ts';
import { encoded, samlNow, samlProvider } from '../support/saml-provider.ts';

// Security S11: the eight shapes of signature wrapping (Somorovsky and others, 2012). A person with
// one valid response of their own moves the signed part aside, and adds an assertion about another
// person where a careless reader looks.

const provider = await samlProvider();
const { connection, requestId } = provider;
const verify = (xml: string) =>
  verifyInThread(connection, encoded(xml), { requestId, now: samlNow });

const part = (xml: string, pattern: RegExp): string => {
  const [found] = pattern.exec(xml) ?? [];
  if (found === undefined) throw new Error(`not found: ${pattern}`);
  return found;
};
const signatureIn = (xml: string) => part(xml, /<ds:Signature .*?<\/ds:Signature>/);
const assertionIn = (xml: string) => part(xml, /<saml:Assertion .*<\/saml:Assertion>/);
const withoutSignature = (xml: string) => xml.replace(signatureIn(xml), '');
const within = (signature: string, content: string) =>
  signature.replace('</ds:Signature>', `<ds:Object>${content}</ds:Object></ds:Signature>`);

const whole = provider.write({ signs: 'response' });
const inner = provider.write({ signs: 'assertion' });
const signedAssertion = assertionIn(inner);
const bareAssertion = withoutSignature(signedAssertion);
const forged = (id: string) =>
  bareAssertion.replace('_assertion1', id).replace('>ada-1<', '>root<');
const forgedResponse = withoutSignature(whole)
  .replace('_response1', '_forged')
  .replace(assertionIn(whole), forged('_forged2'));
const afterIssuer = (xml: string, added: string) =>
  xml.replace('</saml:Issuer>', `</saml:Issuer>${added}`);

const shapes: [string, string][] = [
  [
    'XSW1: the signed response in an Object of the signature',
    afterIssuer(forgedResponse, within(signatureIn(whole), withoutSignature(whole))),
  ],
  [
    'XSW2: the signed response beside its signature',
    afterIssuer(forgedResponse, signatureIn(whole) + withoutSignature(whole)),
  ],
  [
    'XSW3: a forged assertion before the signed one',
    inner.replace(signedAssertion, forged('_forged') + signedAssertion),
  ],
  [
    'XSW4: a forged assertion around the signed one',
    inner.replace(
      signedAssertion,
      forged('_forged').replace('</saml:Assertion>', `${signedAssertion}</saml:Assertion>`),
    ),
  ],
  [
    'XSW5: the signature in a forged assertion, the signed one behind it',
    inner.replace(
      signedAssertion,
      afterIssuer(forged('_forged'), signatureIn(inner)) + bareAssertion,
    ),
  ],
  [
    'XSW6: the signed assertion in the signature of a forged one',
    inner.replace(
      signedAssertion,
      afterIssuer(
        forged('_forged'),
        signatureIn(inner).replace('</ds:Signature>', `${bareAssertion}</ds:Signature>`),
      ),
    ),
  ],
  [
    'XSW7: a forged assertion of the same id in Extensions',
    inner.replace(
      '<samlp:Status>',
      `<samlp:Extensions>${forged('_assertion1')}</samlp:Extensions><samlp:Status>`,
    ),
  ],
  [
    'XSW8: the signed assertion in an Object of the signature of a forged one',
    inner.replace(
      signedAssertion,
      afterIssuer(forged('_assertion1'), within(signatureIn(inner), bareAssertion)),
    ),
  ],
];

test.each(shapes)('S11 a wrapped response is refused, %s', async (_shape, xml) => {
  const failure = { stage: 'response', reason: 'assertions_several' };
  await expect(verify(xml)).rejects.toMatchObject({ code: 'provider_refused', failure });
});

test('S11 an assertion of another namespace beside the signed one is refused', async () => {
  const other = forged('_forged').replace('SAML:2.0:assertion', 'SAML:1.0:assertion');
  const failure = { reason: 'assertions_several' };
  await expect(
    verify(inner.replace(signedAssertion, other + signedAssertion)),
  ).rejects.toMatchObject({ failure });
});

test('S11 nothing outside of what is signed is read', async () => {
  const added =
    '<saml:AttributeStatement xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><saml:Attribute Name="groups"><saml:AttributeValue>root</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>';
  const proof = await verify(inner.replace('</samlp:Response>', `${added}</samlp:Response>`));
  expect(proof.subject).toBe('ada-1');
  expect(JSON.stringify(proof)).not.toContain('root');
});
