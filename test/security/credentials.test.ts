import { createHmac, randomUUID, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SigningKey } from '../../src/database/models/signing-key.ts';
import { transaction } from '../../src/database/transaction.ts';
import { currentSigner, forgetKeys } from '../../src/services/foundation/keys/signing-key.ts';
import {
  disableUser,
  enableUser,
  setUserPassword,
} from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** The places of an access token in a request: a name, and the headers for a token. */
const places: [string, (token: string) => Record<string, string>][] = [
  ['Bearer', (token) => ({ authorization: `Bearer ${token}` })],
  ['x-api-key', (token) => ({ 'x-api-key': token })],
  ['the cookie', (token) => ({ cookie: `access_token=${token}` })],
];

const me = (headers: Record<string, string>, client: Client = idctl.client()) =>
  client.get('/api/v1/me', headers);

async function statusesOf(token: string): Promise<number[]> {
  return Promise.all(places.map(async ([, headers]) => (await me(headers(token))).status));
}

/** The tokens of a new person, and a function that forges variants of the access token. */
async function victim() {
  const { email, id } = await person(idctl);
  const { accessToken, refreshToken } = await signedIn(idctl, email);
  const { kid = '' } = decodeProtectedHeader(accessToken);
  const claims = decodeJwt(accessToken);
  const { key } = await currentSigner(idctl.operator());
  const header = { alg: 'EdDSA', typ: 'at+jwt', kid };
  /** The access token with other claims or another header, signed with the instance's own key. */
  const resigned = (twist: Record<string, unknown>, head: Record<string, unknown> = {}) => {
    const signed = `${encoded({ ...header, ...head })}.${encoded({ ...claims, ...twist })}`;
    return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
  };
  return { email, id, accessToken, refreshToken, claims, header, resigned };
}

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

describe('P1 forged tokens at the HTTP surface', () => {
  test('P1 a token that the instance’s key signed is accepted as Bearer, x-api-key and cookie, even if the test signed it', async () => {
    const { accessToken, resigned } = await victim();
    expect(await statusesOf(accessToken)).toEqual([200, 200, 200]);
    expect(await statusesOf(await resigned({}))).toEqual([200, 200, 200]);
  });

  test('P1 alg none is refused in every spelling, with a signature and without', async () => {
    const { claims, header, accessToken } = await victim();
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      for (const signature of ['', accessToken.split('.')[2]]) {
        const token = `${encoded({ ...header, alg })}.${encoded(claims)}.${signature}`;
        expect(await statusesOf(token), alg).toEqual([401, 401, 401]);
      }
    }
  });

  test('P1 the public key is not accepted as an HMAC key, in any form', async () => {
    const { claims, header } = await victim();
    const [jwk] = (await idctl.client().get('/.well-known/jwks.json')).body.keys;
    const raw = Buffer.from(jwk.x, 'base64url');
    for (const key of [raw, Buffer.from(jwk.x), Buffer.from(JSON.stringify(jwk))]) {
      const signed = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`;
      const mac = createHmac('sha256', key).update(signed).digest('base64url');
      expect(await statusesOf(`${signed}.${mac}`)).toEqual([401, 401, 401]);
    }
  });

  test('P1 a refresh token is refused as an access token, and an access token as a refresh token', async () => {
    const { refreshToken, accessToken } = await victim();
    expect(await statusesOf(refreshToken)).toEqual([401, 401, 401]);
    const client = idctl.client();
    const renew = (token: string, cookie: boolean) =>
      cookie
        ? client.post('/api/v1/auth/refresh', undefined, { cookie: `refresh_token=${token}` })
        : client.post('/api/v1/auth/refresh', { refreshToken: token });
    for (const cookie of [true, false]) expect((await renew(accessToken, cookie)).status).toBe(401);
    expect((await renew(refreshToken, false)).status).toBe(200);
  });

  test('P1 another instance’s token is refused: another key with this key id, or this key with another issuer or audience', async () => {
    const { claims, header, resigned } = await victim();
    const { privateKey } = await generateKeyPair('EdDSA');
    const foreign = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
    const elsewhere = { iss: 'https://other.test', aud: 'https://other.test' };
    for (const token of [
      foreign,
      await resigned(elsewhere),
      await resigned({ iss: elsewhere.iss }),
      await resigned({ aud: elsewhere.aud }),
      await resigned({ aud: [claims.aud, elsewhere.aud] }),
    ]) {
      expect(await statusesOf(token)).toEqual([401, 401, 401]);
    }
  });

  test.each([
    ['jku', 'https://evil.test/jwks.json'],
    ['x5u', 'https://evil.test/cert.pem'],
    ['jwk', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
    ['crit', ['exp']],
    ['typ', 'JWT'],
    ['typ', undefined],
    ['kid', '../../etc/passwd'],
    ['kid', "' OR 1=1 --"],
    ['kid', undefined],
  ])(
    'P1 a token whose header has %s %j is refused, even if this instance’s key signed it',
    async (name, value) => {
      const { resigned } = await victim();
      const token = await resigned({}, { [name]: value });
      expect(await statusesOf(token)).toEqual([401, 401, 401]);
    },
  );

  test('P1 wrong claims are refused: another person’s session or account, an unknown session, no valid expiry, an extra claim', async () => {
    const [ada, eve] = [await victim(), await victim()];
    expect(await statusesOf(await ada.resigned({ sid: eve.claims['sid'] }))).toEqual([
      401, 401, 401,
    ]);
    expect(await statusesOf(await ada.resigned({ sub: eve.claims.sub }))).toEqual([401, 401, 401]);
    expect(await statusesOf(await ada.resigned({ sid: randomUUID() }))).toEqual([401, 401, 401]);
    expect(await statusesOf(await ada.resigned({ exp: 1 }))).toEqual([401, 401, 401]);
    expect(await statusesOf(await ada.resigned({ exp: undefined }))).toEqual([401, 401, 401]);
    expect(await statusesOf(await ada.resigned({ role: 'owner' }))).toEqual([401, 401, 401]);
  });

  test('P1 access and refresh tokens are refused if their signing key was removed', async () => {
    const { accessToken, refreshToken, header } = await victim();
    const removed = await SigningKey.findByPk(header.kid, { rejectOnEmpty: true });
    await transaction(() => removed.destroy());
    forgetKeys(idctl.operator());
    try {
      expect(await statusesOf(accessToken)).toEqual([401, 401, 401]);
      expect((await idctl.client().post('/api/v1/auth/refresh', { refreshToken })).status).toBe(
        401,
      );
    } finally {
      const { id, publicJwk, privateJwk, createdAt } = removed;
      await transaction(
        async () => void (await SigningKey.create({ id, publicJwk, privateJwk, createdAt })),
      );
      idctl.wait(10);
      forgetKeys(idctl.operator());
    }
    expect(await statusesOf(accessToken)).toEqual([200, 200, 200]);
  });
});

describe('P2 a revocation takes effect at the next request', () => {
  test('P2 a token is refused once the session is revoked, the account disabled or the password set', async () => {
    const ends: ((who: Awaited<ReturnType<typeof victim>>) => Promise<unknown>)[] = [
      ({ accessToken, claims }) => {
        const headers = { authorization: `Bearer ${accessToken}` };
        return idctl.client().send('DELETE', `/api/v1/me/sessions/${claims['sid']}`, { headers });
      },
      ({ id }) => disableUser(idctl.operator(), { user: id }),
      ({ id }) => setUserPassword(idctl.operator(), { user: id, password: 'quite another one' }),
    ];
    for (const end of ends) {
      const who = await victim();
      expect(await statusesOf(who.accessToken)).toEqual([200, 200, 200]);
      await end(who);
      expect(await statusesOf(who.accessToken)).toEqual([401, 401, 401]);
      await enableUser(idctl.operator(), { user: who.id });
      expect(await statusesOf(who.accessToken)).toEqual([401, 401, 401]);
    }
  });

  test('P2 a token does not contain a role: every request uses the current membership', async () => {
    const { slug: org, owner } = await organization(idctl);
    const client = await signedIn(idctl, owner.email);
    const events = async () => (await client.get(`/api/v1/orgs/${org}/events`)).status;
    expect(await events()).toBe(200);
    const heir = await person(idctl);
    await addMember(idctl.operator(), { org, email: heir.email ?? '', role: 'owner' });
    await changeMemberRole(idctl.operator(), { org, user: owner.id, role: 'member' });
    expect(await events()).toBe(403);
    await removeMember(idctl.operator(), { org, user: owner.id });
    expect(await events()).toBe(404);
    expect((await client.get('/api/v1/me')).body.organizations).toEqual([]);
  });
});

describe('P3 the first credential present decides', () => {
  test('P3 a bad credential is never skipped for a good one behind it', async () => {
    const { accessToken } = await victim();
    const good = { cookie: `access_token=${accessToken}`, 'x-api-key': accessToken };
    for (const authorization of [
      'Bearer',
      'Bearer ',
      'bearer x',
      'Bearer\tx',
      'Bearer x y',
      'Bearer "x"',
      'Bearer,x',
      'Bearer=x',
      'Bearer:x',
      `Bearer ${'x'.repeat(4097)}`,
      '',
    ]) {
      expect((await me({ ...good, authorization })).status, authorization).toBe(401);
    }
    for (const key of ['', 'x', 'x y', 'é', 'x'.repeat(4097)]) {
      expect((await me({ ...good, 'x-api-key': key })).status, key).toBe(401);
    }
    const twice = `access_token=x; access_token=${accessToken}`;
    for (const cookie of [
      twice,
      `access_token=; a=b`,
      `access_token=${accessToken}; access_token=x`,
    ]) {
      expect((await me({ cookie })).status, cookie).toBe(401);
    }
    expect((await me({ ...good, authorization: 'Basic eDp5' })).status).toBe(200);
    expect((await me({ ...good, authorization: 'Bearer-like x' })).status).toBe(200);
  });

  test('P3 two credentials of one kind are refused, whichever is good', async () => {
    const { accessToken } = await victim();
    const good = `Bearer ${accessToken}`;
    for (const pair of [
      [good, 'Bearer x'],
      ['Bearer x', good],
      [good, good],
    ]) {
      const answer = await idctl
        .client()
        .send('GET', '/api/v1/me', { headers: { authorization: pair } });
      expect(answer.status).toBe(401);
    }
    const keys = { 'x-api-key': [accessToken, accessToken] };
    expect((await idctl.client().send('GET', '/api/v1/me', { headers: keys })).status).toBe(401);
  });

  test('P3 a request cannot authenticate with a password', async () => {
    const { email } = await victim();
    const basic = Buffer.from(`${email}:${password}`).toString('base64');
    expect((await me({ authorization: `Basic ${basic}` })).status).toBe(401);
  });
});
