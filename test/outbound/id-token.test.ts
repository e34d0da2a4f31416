import { generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  answerIdToken,
  asked,
  bound,
  client,
  provider,
  redeem,
  useLyingProvider,
} from './lying.ts';

useLyingProvider();

describe('S4 ID tokens', () => {
  const refused = (reason: string) => ({
    code: 'provider_refused',
    extra: { stage: 'id_token', reason },
    message: expect.stringContaining('ID token was not accepted'),
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['another audience', { aud: 'someone-else' }, 'aud_invalid'],
    ['further audiences without azp', { aud: ['idctl', 'other'] }, 'aud_invalid'],
    ['another authorized party', { aud: ['idctl', 'other'], azp: 'other' }, 'azp_invalid'],
    ['another issuer', { iss: 'https://evil.test' }, 'iss_invalid'],
    ['another nonce', { nonce: 'replayed' }, 'nonce_invalid'],
    ['no nonce', { nonce: undefined }, 'nonce_invalid'],
    ['no subject', { sub: undefined }, 'sub_invalid'],
    ['a number for a subject', { sub: 7 }, 'sub_invalid'],
    ['an expiry in the past', { exp: 1000 }, 'exp_invalid'],
    ['no expiry', { exp: undefined }, 'exp_invalid'],
    ['a start in the future', { nbf: 99_999_999_999 }, 'nbf_invalid'],
  ])('S4 a token with %s is refused', async (_, twisted, reason) => {
    answerIdToken(await provider.sign({ ...provider.claims(bound.nonce), ...twisted }));
    await expect(redeem()).rejects.toMatchObject(refused(reason));
    expect(asked('/userinfo')).toEqual([]);
  });

  test('S4 a signature by a key that is not published is refused, in the code flow too', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    answerIdToken(await provider.sign(provider.claims(bound.nonce), {}, privateKey));
    await expect(redeem()).rejects.toMatchObject(refused('signature_invalid'));
    answerIdToken(await provider.sign(provider.claims(bound.nonce), { kid: 'unknown' }));
    await expect(redeem()).rejects.toMatchObject(refused('signature_invalid'));
  });

  test('S4 a token whose claims were changed after signing is refused', async () => {
    const [header, , signature] = (await provider.sign(provider.claims(bound.nonce))).split('.');
    const claims = Buffer.from(JSON.stringify({ ...provider.claims(bound.nonce), sub: 'victim' }));
    answerIdToken(`${header}.${claims.toString('base64url')}.${signature}`);
    await expect(redeem()).rejects.toMatchObject(refused('signature_invalid'));
  });

  const withHeader = (header: object) =>
    [header, provider.claims(bound.nonce)]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');

  test('S4 alg none is refused, whatever discovery advertises', async () => {
    answerIdToken(`${withHeader({ alg: 'none' })}.`);
    await expect(redeem()).rejects.toMatchObject(refused('alg_invalid'));
  });

  test('S4 a token signed with the client secret is refused', async () => {
    const signed = new SignJWT(provider.claims(bound.nonce)).setProtectedHeader({ alg: 'HS256' });
    answerIdToken(await signed.sign(Buffer.from(client().clientSecret.padEnd(32))));
    await expect(redeem()).rejects.toMatchObject(refused('alg_invalid'));
  });

  test('S4 an algorithm that is not on idctl’s list is refused, even if discovery advertises it', async () => {
    const { privateKey } = await generateKeyPair('RS512');
    const header: Partial<JWTHeaderParameters> = { alg: 'RS512' };
    answerIdToken(await provider.sign(provider.claims(bound.nonce), header, privateKey));
    await expect(redeem()).rejects.toMatchObject(refused('alg_invalid'));
  });

  test.each(['', 'a.b', 'a.b.c', 'a.b.c.d.e', '%.%.%', 7, null, {}])(
    'S4 %j as an ID token is refused',
    async (idToken) => {
      answerIdToken(idToken);
      await expect(redeem()).rejects.toMatchObject({ code: 'provider_refused' });
    },
  );
});
