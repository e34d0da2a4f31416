import { chmod } from 'node:fs/promises';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKeyFile } from '../../src/crypto/key-file.ts';
import { createKeyring } from '../../src/crypto/seal.ts';
import { Event } from '../../src/database/models/event.ts';
import { KeyCanary } from '../../src/database/models/key-canary.ts';
import { SigningKey } from '../../src/database/models/signing-key.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listKeys, rotateSigningKey } from '../../src/services/foundation/keys/operations.ts';
import {
  currentSigner,
  findVerificationKey,
} from '../../src/services/foundation/keys/signing-key.ts';

import { person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { sweepNow } from '../support/sweep.ts';

// Security X2: signing keys overlap during a rotation, so no person is signed out.

let idctl: Idctl;
beforeEach(async () => {
  idctl = await openIdctl();
});
afterEach(() => idctl.close());

const minute = 60;
const day = 86_400;
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const newcomer = async () => signedIn(idctl, (await person(idctl)).email);
const refresh = async (client: Client) => {
  const answer = await client.post('/api/v1/auth/refresh');
  expect(answer.status).toBe(200);
  return answer.body as { accessToken: string; refreshToken: string };
};
const publicKids = async () => {
  const { body } = await idctl.client().get('/.well-known/jwks.json');
  return body.keys.map(({ kid }: { kid: string }) => kid);
};
const states = async () => {
  const { items } = await listKeys(idctl.operator(), { limit: 50 });
  return items.map(({ purpose, state }) => `${purpose} ${state}`);
};

test('the new key is published at once, signs two minutes later, and the old one still verifies', async () => {
  const ada = await newcomer();
  const old = kidOf(ada.accessToken);
  expect(await states()).toEqual(['master seals', 'signing signs']);
  const asked = idctl.operator();
  const { id, signsFrom, state } = await rotateSigningKey(asked, {});
  expect([state, Date.parse(signsFrom) - asked.now.getTime()]).toEqual(['waits', 120_000]);
  expect(await publicKids()).toEqual([id, old]);
  expect(await states()).toEqual(['master seals', 'signing signs', 'signing waits']);
  expect(kidOf((await newcomer()).accessToken)).toBe(old);
  idctl.wait(121);
  const late = await newcomer();
  expect([kidOf(late.accessToken), kidOf(late.refreshToken)]).toEqual([id, id]);
  expect(await states()).toEqual(['master seals', 'signing verifies', 'signing signs']);
  const bearer = { authorization: `Bearer ${ada.accessToken}` };
  expect((await idctl.client().get('/api/v1/me', bearer)).status).toBe(200);
});

test('sessions continue: they refresh after the rotation, and change to the new key', async () => {
  const [ada, bob] = [await newcomer(), await newcomer()];
  const { id } = await rotateSigningKey(idctl.operator(), {});
  idctl.wait(13 * day);
  const renewed = await refresh(ada);
  expect([kidOf(renewed.accessToken), kidOf(renewed.refreshToken)]).toEqual([id, id]);
  expect((await ada.get('/api/v1/me')).status).toBe(200);
  await refresh(bob);
});

test('P4 a refresh token used just before and just after the change of key gives the same successor, signed by the old key', async () => {
  const ada = await newcomer();
  const again = idctl.client();
  await rotateSigningKey(idctl.operator(), {});
  idctl.wait(110);
  const first = await refresh(ada);
  idctl.wait(20);
  const second = await again.post('/api/v1/auth/refresh', { refreshToken: ada.refreshToken });
  expect(second.body.refreshToken).toBe(first.refreshToken);
  expect(kidOf(second.body.accessToken)).not.toBe(kidOf(first.refreshToken));
});

test('X2 a retired key is kept as long as a session can last, to verify its ID tokens, and is then deleted', async () => {
  const old = kidOf((await newcomer()).refreshToken);
  await rotateSigningKey(idctl.operator(), {});
  const kept: number[] = [];
  for (const seconds of [20 * minute, 29 * day, day]) {
    idctl.wait(seconds);
    await sweepNow(idctl.operator());
    kept.push(await SigningKey.count());
  }
  expect(kept).toEqual([2, 2, 1]);
  expect(await Event.findAll({ where: { kind: 'key.signing.dropped' } })).toMatchObject([
    { subject: { type: 'key', id: old } },
  ]);
});

test('another daemon knows the new key before any token is signed with it, even after requests with invented key ids', async () => {
  const now = (seconds: number) => new Date(Date.now() + seconds * 1000);
  const keyring = createKeyring(await readKeyFile(idctl.app.config.keyFile));
  const other = (seconds: number) => ({ keyring, now: now(seconds) });
  const old = await currentSigner(other(0));
  const { id } = await rotateSigningKey(idctl.operator(), {});
  expect((await currentSigner(other(1))).kid).toBe(old.kid);
  idctl.wait(121);
  expect((await currentSigner(idctl.operator())).kid).toBe(id);
  await findVerificationKey(other(119), 'made-up');
  expect(await findVerificationKey(other(121), id)).not.toBeNull();
  expect((await currentSigner(other(121))).kid).toBe(id);
});

test('after several rotations the last key signs, and every key verifies', async () => {
  const ada = await newcomer();
  await rotateSigningKey(idctl.operator(), {});
  idctl.wait(minute);
  const { id } = await rotateSigningKey(idctl.operator(), {});
  expect((await ada.get('/api/v1/me')).status).toBe(200);
  idctl.wait(121);
  expect(kidOf((await newcomer()).accessToken)).toBe(id);
  expect(await publicKids()).toHaveLength(3);
  await refresh(ada);
});

test('X5 a rotation is an event, and the private half of the new key is stored sealed', async () => {
  const { id } = await rotateSigningKey(idctl.operator(), {});
  const row = await SigningKey.findByPk(id);
  expect(row?.privateJwk).toMatch(/^v1\./);
  expect(await Event.findAll({ where: { kind: 'key.signing.rotated' } })).toMatchObject([
    { actor: { kind: 'operator' }, subject: { type: 'key', id }, data: { retired: 1 } },
  ]);
});

test('interface page: /readyz is 503 while the key file lacks the master key of the database', async () => {
  const ready = async () => {
    const { status, body } = await idctl.client().get('/readyz');
    return [status, body.code ?? body];
  };
  const isReady = [200, { status: 'ready', writable: true }];
  expect(await ready()).toEqual(isReady);
  const other = { keyId: 'another', sealed: 'x', createdAt: new Date(Date.now() + day * 1000) };
  await transaction(() => KeyCanary.create(other));
  expect(await ready()).toEqual([503, 'not_ready']);
  // The public answer never contains the path of the key file.
  await chmod(idctl.app.config.keyFile, 0o644);
  const { body } = await idctl.client().get('/readyz');
  expect(JSON.stringify(body)).not.toContain(idctl.app.config.keyFile);
  expect(await ready()).toEqual([503, 'not_ready']);
  await chmod(idctl.app.config.keyFile, 0o600);
  await transaction(() => KeyCanary.destroy({ where: { keyId: 'another' } }));
  expect(await ready()).toEqual(isReady);
});
