import { generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';
import type { LyingProvider } from '../support/lying-provider.ts';
import { answerIdToken, asked, provider, redeem, start, useLyingProvider } from './lying.ts';

useLyingProvider();

describe('S4 userinfo', () => {
  test('S4 userinfo is always read, with the access token', async () => {
    expect(await redeem()).toMatchObject({
      subject: 'person-1',
      userinfo: { email: 'ada@acme.test' },
    });
    expect(asked('/userinfo').map((one) => one.headers.authorization)).toEqual(['Bearer opaque']);
  });

  test.each<[string, Record<string, unknown>]>([
    ['of another person', { sub: 'victim', email: 'eve@acme.test' }],
    ['without a subject', { email: 'eve@acme.test' }],
  ])('S4 userinfo %s is refused', async (_, body) => {
    provider.answers.userinfo = () => ({ body });
    await expect(redeem()).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'userinfo', reason: 'sub_invalid' },
    });
  });

  const signedBy = async (...rest: Parameters<LyingProvider['sign']>) => {
    const body = await provider.sign(...rest);
    provider.answers.userinfo = () => ({ headers: { 'content-type': 'application/jwt' }, body });
  };
  const person = { sub: 'person-1', email: 'ada@acme.test' };

  test('S4 the signature and audience of a signed userinfo are verified', async () => {
    await signedBy(person);
    expect((await redeem()).userinfo).toEqual(person);
    const { privateKey } = await generateKeyPair('ES256');
    await signedBy(person, {}, privateKey);
    await expect(redeem()).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'userinfo', reason: 'signature_invalid' },
    });
    await signedBy({ ...person, aud: 'someone-else' });
    await expect(redeem()).rejects.toMatchObject({
      extra: { stage: 'userinfo', reason: 'aud_invalid' },
    });
  });

  test('§4.1 for a provider without ID tokens, userinfo alone proves the person', async () => {
    answerIdToken(undefined);
    expect(await redeem()).toEqual({
      issuer: provider.issuer,
      subject: 'person-1',
      userinfo: person,
      idToken: {},
      managedBy: null,
    });
    expect(asked('/jwks')).toEqual([]);
  });

  test('I1 the subject is null if neither ID token nor userinfo has one', async () => {
    answerIdToken(undefined);
    provider.answers.userinfo = () => ({ body: { email: 'ada@acme.test' } });
    expect(await redeem()).toMatchObject({ subject: null, userinfo: { email: 'ada@acme.test' } });
  });

  test('S4 a signed userinfo without a subject is refused if its signature is not valid', async () => {
    answerIdToken(undefined);
    const { privateKey } = await generateKeyPair('ES256');
    await signedBy({ email: 'ada@acme.test' }, {}, privateKey);
    await expect(redeem()).rejects.toMatchObject({ extra: { stage: 'userinfo' } });
  });

  test.each([7, '', {}])('S4 %j as a subject is refused', async (sub) => {
    answerIdToken(undefined);
    provider.answers.userinfo = () => ({ body: { sub, email: 'ada@acme.test' } });
    await expect(redeem()).rejects.toMatchObject({
      extra: { stage: 'userinfo', reason: 'sub_invalid' },
    });
  });

  test('S4 a provider without a userinfo endpoint is refused', async () => {
    provider.answers.discovery = () => ({
      body: { ...provider.document(), userinfo_endpoint: undefined },
    });
    await expect(start()).rejects.toMatchObject({
      code: 'provider_failed',
      extra: { stage: 'discovery', reason: 'endpoint_missing' },
      message: expect.stringContaining('userinfo_endpoint'),
    });
  });
});
