import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { SamlKey } from '../../src/database/models/saml-key.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listKeys, rotateMasterKey } from '../../src/services/foundation/keys/operations.ts';
import {
  rotateSamlKeys,
  samlCertificates,
  samlDecryptionKeys,
  samlSigner,
} from '../../src/services/foundation/keys/saml-key.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { sweepNow } from '../support/sweep.ts';

// Security S11: the instance's keys for SAML providers.

let idctl: Idctl;
beforeEach(async () => {
  idctl = await openIdctl();
});
afterEach(() => idctl.close());

const day = 86_400;
const ctx = () => idctl.operator();
const states = async () => {
  const { items } = await listKeys(ctx(), { limit: 50 });
  return items
    .filter(({ purpose }) => purpose.startsWith('saml'))
    .map(({ purpose, state }) => `${purpose} ${state}`);
};

test('S11 the first use creates one key to sign and one to decrypt, with certificates, sealed', async () => {
  expect(await states()).toEqual([]);
  const { signing, encryption } = await samlCertificates(ctx());
  expect([signing.length, encryption.length]).toEqual([1, 1]);
  expect(signing).not.toEqual(encryption);
  const { privateKey, certificate } = await samlSigner(ctx());
  expect(signing).toEqual([certificate]);
  const written = new X509Certificate(certificate);
  expect(written.checkPrivateKey(privateKey)).toBe(true);
  expect(written.verify(written.publicKey)).toBe(true);
  expect(written.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 3072 });
  expect(written.validToDate.getFullYear()).toBe(new Date().getFullYear() + 20);
  const [first] = await samlDecryptionKeys(ctx());
  expect(first && new X509Certificate(encryption[0] ?? '').checkPrivateKey(first)).toBe(true);
  for (const row of await SamlKey.findAll()) expect(row.privateKey).toMatch(/^v1\./);
});

test('S11 callers that need the keys at the same time create one pair', async () => {
  const all = await Promise.all([1, 2, 3].map(() => samlCertificates(ctx())));
  expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(await SamlKey.count()).toBe(2);
});

test('S11 a rotation publishes both keys for 30 days; the old one signs until then, and decrypts for 30 days more', async () => {
  const old = await samlSigner(ctx());
  // A new pair of keys can take seconds.
  const asked = ctx();
  const rotated = await rotateSamlKeys(asked, { immediately: false });
  expect(Date.parse(rotated.signsFrom) - asked.now.getTime()).toBe(30 * day * 1000);
  expect((await states()).sort()).toEqual([
    'saml-encryption decrypts',
    'saml-encryption decrypts',
    'saml-signing signs',
    'saml-signing waits',
  ]);
  const both = await samlCertificates(ctx());
  expect([both.signing.length, both.encryption.length]).toEqual([2, 2]);
  expect((await samlSigner(ctx())).certificate).toBe(old.certificate);
  expect(await samlDecryptionKeys(ctx())).toHaveLength(2);
  idctl.wait(30 * day + 1);
  expect((await samlSigner(ctx())).certificate).not.toBe(old.certificate);
  const { signing, encryption } = await samlCertificates(ctx());
  expect([signing.length, encryption.length]).toEqual([1, 1]);
  await sweepNow(ctx());
  expect(await samlDecryptionKeys(ctx())).toHaveLength(2);
  idctl.wait(30 * day);
  await sweepNow(ctx());
  expect(await samlDecryptionKeys(ctx())).toHaveLength(1);
  expect(await SamlKey.count()).toBe(2);
  const events = await Event.findAll({ where: { kind: ['key.saml.rotated', 'key.saml.dropped'] } });
  expect(events.map(({ kind }) => kind).sort()).toEqual([
    'key.saml.dropped',
    'key.saml.dropped',
    'key.saml.rotated',
  ]);
});

test('S11 an immediate rotation signs with the new key only, and a second one retires a waiting key', async () => {
  const old = await samlCertificates(ctx());
  await rotateSamlKeys(ctx(), { immediately: false });
  await rotateSamlKeys(ctx(), { immediately: true });
  const { signing, encryption } = await samlCertificates(ctx());
  expect([signing.length, encryption.length]).toEqual([1, 1]);
  expect(signing).not.toEqual(old.signing);
  expect((await samlSigner(ctx())).certificate).toBe(signing[0]);
  expect(await samlDecryptionKeys(ctx())).toHaveLength(3);
});

test('S11 the first rotation of an instance without keys signs immediately', async () => {
  const { signsFrom } = await rotateSamlKeys(ctx(), { immediately: false });
  expect(Date.parse(signsFrom)).toBeLessThanOrEqual(Date.now());
  expect((await states()).sort()).toEqual(['saml-encryption decrypts', 'saml-signing signs']);
});

test('S11 a key copied to another row does not open', async () => {
  await samlSigner(ctx());
  await transaction(async () => {
    const [one, two] = await SamlKey.findAll();
    await SamlKey.update({ privateKey: two?.privateKey ?? '' }, { where: { id: one?.id ?? '' } });
    await SamlKey.update({ privateKey: one?.privateKey ?? '' }, { where: { id: two?.id ?? '' } });
  });
  await expect(samlSigner(ctx())).rejects.toMatchObject({ code: 'key_invalid' });
});

test('X1 a rotation of the master key seals the keys for SAML providers again', async () => {
  const before = await samlSigner(ctx());
  const { id } = await rotateMasterKey(ctx(), { prepare: false });
  for (const row of await SamlKey.findAll()) expect(row.privateKey).toContain(`v1.${id}.`);
  const after = await samlSigner(ctx());
  expect(after.privateKey.equals(before.privateKey)).toBe(true);
});
