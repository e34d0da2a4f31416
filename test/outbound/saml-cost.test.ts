import { createPrivateKey } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { samlTurns, verifyInThread } from '../../src/outbound/saml/thread.ts';
import { requestIn } from '../../src/outbound/saml/verify.ts';
import { fastest } from '../support/fastest.ts';
import { encoded, samlNow, samlProvider } from '../support/saml-provider.ts';

// Security O15, X11: what a response of a stranger costs. Every stranger can post one.

const provider = await samlProvider();
const { connection, requestId } = provider;
const strangers = await Promise.all(
  Array.from({ length: 20 }, () => generateCertifiedKey('other', samlNow, 2048)),
);

const verify = (field: string, certificates = connection.provider.certificates) =>
  verifyInThread({ ...connection, provider: { ...connection.provider, certificates } }, field, {
    requestId,
    now: samlNow,
  });

const attributeOf = (content: string) =>
  `<saml:Attribute Name="groups"><saml:AttributeValue>${content}</saml:AttributeValue></saml:Attribute>`;

test('O15 an invalid signature costs about the same with 1 certificate and with 20', async () => {
  const field = provider.respond({ attributes: attributeOf('<saml:a b="c"/>'.repeat(1300)) });
  const certificates = strangers.map(({ certificate }) => certificate);
  const refused = (given: string[]) =>
    fastest(() =>
      expect(verify(field, given)).rejects.toMatchObject({
        failure: { reason: 'signature_invalid' },
      }),
    );
  const one = await refused(certificates.slice(0, 1));
  expect(await refused(certificates)).toBeLessThan(3 * one + 20);
});

test('O15 the document is not read before a certificate fits the signature', async () => {
  const invalid = (xml: string) =>
    xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, first) => tag + (first === 'A' ? 'B' : 'A'));
  const attributes = attributeOf('<saml:a b="c"/>'.repeat(1300));
  const valid = provider.respond({ attributes });
  const changed = provider.respond({ attributes, after: invalid });
  const accepted = await fastest(() => verify(valid));
  const refused = await fastest(() => expect(verify(changed)).rejects.toThrow());
  expect(refused).toBeLessThan(accepted / 2);
});

const withManyGroups = () => provider.respond({ attributes: groups(900), signs: 'both' });

const groups = (count: number) =>
  `<saml:Attribute Name="groups">${'<saml:AttributeValue>a</saml:AttributeValue>'.repeat(count)}</saml:Attribute>`;

test('X11 the main thread does other work while a response is verified', async () => {
  const verifying = { done: false };
  const proof = verify(withManyGroups()).finally(() => {
    verifying.done = true;
  });
  let turns = 0;
  while (!verifying.done) {
    await yieldToEventLoop();
    turns += 1;
  }
  await proof;
  expect(turns).toBeGreaterThan(100);
});

const as = (tenant: string, field: string) =>
  verifyInThread({ ...connection, tenant }, field, { requestId, now: samlNow });

test('O15 a tenant with many responses does not delay the response of another', async () => {
  const order: string[] = [];
  const [many, one] = [withManyGroups(), provider.respond()];
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) =>
    as(name.slice(0, 1), name === 'b1' ? one : many).then(() => order.push(name)),
  );
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('O15 a failure after decryption takes its time, but not the turn of others', async () => {
  const ours = await generateCertifiedKey('idctl', samlNow, 2048);
  const { certificate } = ours;
  const unusable = provider.respond({ signs: 'nothing', encrypting: { certificate } });
  // Starts the thread.
  await as('other', provider.respond());
  const decryptionKeys = [createPrivateKey(ours.privateKey)];
  const expected = { requestId, now: samlNow };
  const order: string[] = [];
  const failing = verifyInThread({ ...connection, decryptionKeys }, unusable, expected).catch(() =>
    order.push('failed'),
  );
  // The turn ends when the thread has answered. Waiting in steps of the event loop, not for another
  // response, holds on a machine that stands still meanwhile.
  do await yieldToEventLoop();
  while (samlTurns.load().running > 0);
  order.push('turn over');
  await failing;
  expect(order).toEqual(['turn over', 'failed']);
});

test('O15 a response whose turn does not come within five seconds is refused', async () => {
  const held = Promise.withResolvers<void>();
  const holding = samlTurns.run('other', () => held.promise);
  await expect(as('acme', provider.respond())).rejects.toMatchObject({
    ...{ code: 'overloaded', retryAfter: 5 },
  });
  held.resolve();
  await holding;
  await expect(as('acme', provider.respond())).resolves.toMatchObject({ subject: 'ada-1' });
});

const namespaces = (count: number) =>
  Array.from({ length: count }, (_, at) => ` xmlns:n${at}="urn:${at}"`).join('');

test('O15 an element may have 60 namespace declarations around it, and no more', async () => {
  // The provider of the tests declares some itself.
  const nested = (count: number) =>
    provider.respond({
      attributes: attributeOf(`<saml:a${namespaces(count)}><saml:b/></saml:a>`),
    });
  await expect(verify(nested(50))).resolves.toMatchObject({ subject: 'ada-1' });
  await expect(verify(nested(61))).rejects.toMatchObject({
    failure: { reason: 'too_many_elements' },
  });
  const levels = '<saml:a xmlns:x="urn:x" xmlns:y="urn:y">'.repeat(35) + '</saml:a>'.repeat(35);
  await expect(verify(provider.respond({ attributes: attributeOf(levels) }))).rejects.toMatchObject(
    { failure: { reason: 'too_many_elements' } },
  );
});

test('S11 each of 900 values may declare its namespaces again, as some providers do', async () => {
  const value =
    '<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">a</saml:AttributeValue>';
  const attributes = `<saml:Attribute Name="groups">${value.repeat(900)}</saml:Attribute>`;
  const { attributes: read } = await verify(provider.respond({ attributes }));
  expect(read[0]?.values).toHaveLength(900);
});

const kib256 = (content: string) => `<p:Response ${protocol}>${content}</p:Response>`;
const protocol = 'xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" InResponseTo="_r"';

test.each<[string, string]>([
  ['references', kib256('&amp;'.repeat(50_000))],
  ['elements', kib256(`${'<a/>'.repeat(1490)}${'x'.repeat(200_000)}`)],
  ['repeated namespaces', kib256('<a xmlns:x="urn:x" x:b="1"/>'.repeat(1400))],
  ['spaces', kib256(`<a${' '.repeat(250_000)}/>`)],
])('X11 the request of a response with many %s is read in a few milliseconds', async (_, xml) => {
  const field = encoded(xml);
  expect(requestIn(field)).toBe('_r');
  expect(await fastest(() => requestIn(field))).toBeLessThan(5);
});

test.each<[string, string]>([
  ['whose first tag is too long', `<p:Response ${protocol} a="${'b'.repeat(10_000)}"/>`],
  ['whose first tag has no end', `<p:Response ${protocol} `],
  ['with two attributes of one name', `<p:Response ${protocol} InResponseTo="_s"/>`],
  ['of another namespace', '<Response InResponseTo="_r"/>'],
  ['that is text', 'Response'],
])('X11 no request is read from a response %s', (_, xml) => {
  expect(() => requestIn(encoded(xml))).toThrow(
    expect.objectContaining({ code: 'provider_refused' }),
  );
});

test('X11 the request is read behind an XML declaration, and quotes may contain the end of a tag', () => {
  const tag = `<p:Response a=">" ${protocol}>`;
  expect(requestIn(encoded(`<?xml version="1.0"?>\n${tag}</p:Response>`))).toBe('_r');
  expect(requestIn(encoded(tag.replace(' InResponseTo="_r"', '')))).toBe(null);
});
