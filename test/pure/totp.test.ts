import { expect, test } from 'vitest';
import { matchTotp, newTotpSecret, totpUri } from '../../src/crypto/totp.ts';

// RFC 6238 appendix B, SHA-1, the last six of its eight digits; the secret is "12345678901234567890" in Base32.
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const vectors = [
  [59, '287082', 1],
  [1111111109, '081804', 37037036],
  [1111111111, '050471', 37037037],
  [1234567890, '005924', 41152263],
  [2000000000, '279037', 66666666],
  [20000000000, '353130', 666666666],
] as const;

test.each(vectors)('RFC 6238 appendix B: at %i the code is %s', (time, code, step) => {
  expect(matchTotp(secret, code, new Date(time * 1000))).toBe(step);
});

test('§5.3 one period of drift is accepted either way, two are refused', () => {
  const [time, code, step] = vectors[3];
  for (const drift of [-30, 30])
    expect(matchTotp(secret, code, new Date((time + drift) * 1000))).toBe(step);
  for (const drift of [-60, 60])
    expect(matchTotp(secret, code, new Date((time + drift) * 1000))).toBeNull();
});

test.each(['', '12345', '1234567', 'abcdef', '28708２', ' 287082', '-87082', '2870.2'])(
  '§8 %j is not a code',
  (code) => {
    expect(matchTotp(secret, code, new Date(59_000))).toBeNull();
  },
);

test('P12 a secret has 160 bits, and each is new', () => {
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(newTotpSecret());
});

test('the URI names the issuer and the account, whatever their names contain', () => {
  const uri = new URL(totpUri({ secret, issuer: 'My: id&ctl', account: 'ada@acme.test' }));
  expect(uri.protocol).toBe('otpauth:');
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret, issuer: 'My  id&ctl' });
  expect(decodeURIComponent(uri.pathname)).toBe('/My  id&ctl:ada@acme.test');
});
