import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalDomain,
  canonicalEmail,
} from '../../src/services/foundation/domain-names/canonical.ts';

test.each([
  ['acme.test', 'acme.test'],
  ['ACME.Test', 'acme.test'],
  ['http://acme.test', 'acme.test'],
  ['HTTPS://acme.test/', 'acme.test'],
  ['acme.test.', 'acme.test'],
  ['https://acme.test./', 'acme.test'],
  ['ada@Acme.test', 'acme.test'],
  ['  acme.test ', 'acme.test'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['BÜCHER。example', 'xn--bcher-kva.example'],
])('§2.1 D1 %j is the domain %j', (text, domain) => {
  expect(canonicalDomain(text)).toBe(domain);
});

test.each([
  '',
  'acme',
  '@acme.test',
  'a@b@acme.test',
  'acme.test:443',
  'acme.test/path',
  'https://acme.test/path',
  '*.acme.test',
  '_dmarc.acme.test',
  '-acme.test',
  'acme-.test',
  'acme..test',
  '.acme.test',
  'acme.test..',
  '127.0.0.1',
  '1.2.3',
  '0x7f.1',
  '[::1]',
  'acme.test?x',
  'acme.test#x',
  'ac me.test',
  'acme\t.test',
  'acme.te\nst',
  'acme\u200b.test',
  'acme／x.test',
  'a%2eb.test',
  `${'a'.repeat(64)}.test`,
  `${'abcdefg.'.repeat(32)}test`,
])('D1 %j is not a domain', (text) => {
  expect(canonicalDomain(text)).toBeNull();
});

test.each([
  ['Ada@Acme.test', 'ada@acme.test'],
  ['ada+x@bücher.example', 'ada+x@xn--bcher-kva.example'],
  ["o'neil@acme.test", "o'neil@acme.test"],
])('D1 %j is the address %j', (text, email) => {
  expect(canonicalEmail(text)).toBe(email);
});

test.each([
  'ada',
  '@acme.test',
  'ada@',
  'ada@acme',
  'a@b@acme.test',
  '.ada@acme.test',
  'ada..b@acme.test',
  '"ada"@acme.test',
  'ada b@acme.test',
  'ada@acme.test.',
  'ada@http://acme.test',
  'аda@acme.test',
  'ada\u0000@acme.test',
  'ada@[127.0.0.1]',
  `${'a'.repeat(65)}@acme.test`,
])('D1 %j is not an address', (text) => {
  expect(canonicalEmail(text)).toBeNull();
});

test('D1 a canonical form does not change if it is made canonical again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const canonical of [canonicalDomain, canonicalEmail]) {
        const form = canonical(text);
        if (form !== null) expect(canonical(form)).toBe(form);
      }
    }),
  );
  fc.assert(fc.property(fc.domain(), (name) => canonicalDomain(name) === name.toLowerCase()));
});

test('D1 a host that is used as it is has the form that domainToASCII gives it', () => {
  const sign = fc.constantFrom(...'abxn019-');
  const label = fc.string({ unit: sign, minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(label, { minLength: 2, maxLength: 4 }), (labels) => {
      const host = labels.join('.');
      const form = canonicalDomain(host);
      expect(form === null || form === domainToASCII(host)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
