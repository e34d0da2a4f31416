import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashOfSecret, newSecret } from '../../src/crypto/secret.ts';

const kinds = ['cos_pat_', 'scim_', 'cos_secret_'] as const;

test.each(kinds)(
  'P13 %s: a secret is found by its SHA-256, and its prefix shows four characters of it',
  (kind) => {
    const { value, prefix, hash } = newSecret(kind);
    expect(value).toMatch(new RegExp(`^${kind}[0-9A-Za-z]{38}$`));
    expect(prefix).toBe(value.slice(0, kind.length + 4));
    expect(hash).toBe(createHash('sha256').update(value).digest('hex'));
    expect(hashOfSecret(kind, value)).toBe(hash);
  },
);

test('P13 at least 160 random bits stay secret: 32 characters, evenly drawn from 62, with four shown', () => {
  expect(Math.log2(62) * (32 - 4)).toBeGreaterThan(160);
  const signs = Array.from({ length: 2000 }, () => newSecret('cos_pat_').value.slice(8, 40)).join(
    '',
  );
  const counts = Map.groupBy(signs, (sign) => sign);
  expect(counts.size).toBe(62);
  const expected = signs.length / 62;
  const chi = [...counts.values()].reduce(
    (sum, { length }) => sum + (length - expected) ** 2 / expected,
    0,
  );
  // With 61 degrees of freedom, chance exceeds this about once in 500 million runs.
  expect(chi).toBeLessThan(150);
});

test('P13 the checksum refuses a secret with one character mistyped, dropped, doubled or swapped', () => {
  const { value } = newSecret('cos_pat_');
  const wrong = Array.from(value.slice(8), (sign, at) => {
    const [before, after] = [value.slice(0, 8 + at), value.slice(9 + at)];
    const swapped = before + after.slice(0, 1) + sign + after.slice(1);
    const typos = [
      before + (sign === 'x' ? 'y' : 'x') + after,
      before + after,
      before + sign + sign + after,
    ];
    return swapped === value ? typos : [...typos, swapped];
  }).flat();
  expect(wrong.filter((text) => hashOfSecret('cos_pat_', text) !== null)).toEqual([]);
});

test.each(['', 'cos_pat_', 'cos_pat_x', ' ', 'scim_'])('P13 %j is not a secret', (text) => {
  expect(hashOfSecret('cos_pat_', text)).toBeNull();
});

test('P13 a secret of one kind is refused as another kind', () => {
  const { value } = newSecret('scim_');
  expect(hashOfSecret('cos_pat_', value)).toBeNull();
  expect(hashOfSecret('cos_pat_', `cos_pat_${value.slice(5)}`)).toBeNull();
  // An unknown kind, but as long as a token and with the right checksum.
  const foreign = newSecret('abc_xyz_' as 'cos_pat_');
  expect(hashOfSecret('cos_pat_', foreign.value)).toBeNull();
});
