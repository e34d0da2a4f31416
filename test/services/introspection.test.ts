import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Event } from '../../src/database/models/event.ts';
import { revokeToken } from '../../src/services/people/tokens/operations.ts';
import { writeTokenUses } from '../../src/services/people/tokens/token.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { appOf, basic } from '../support/apps.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { tokenOf, useToken } from '../support/tokens.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

type App = Awaited<ReturnType<typeof appOf>>;

const introspect = async (app: App, token: string) => {
  const form = { ...app.credentials, token };
  const answer = await idctl.client().form('/api/v1/oauth/introspect', form);
  expect(answer.status).toBe(200);
  return answer.body;
};
const revoke = (app: App, token: string) =>
  idctl.client().form('/api/v1/oauth/revoke', { ...app.credentials, token });

/** An organization, an app of its owner, and a member. */
async function workplace() {
  const { id, slug, owner } = await organization(idctl);
  const app = await appOf(idctl, { user: owner.id, organization: slug });
  const member = await person(idctl);
  await addMember(idctl.operator(), { org: slug, email: member.email ?? '', role: 'member' });
  return { id, slug, owner, app, member };
}

const nothing = { active: false };

describe('RFC 7662 introspection', () => {
  test('shows the owner, scope, organization, start and expiry of a member’s access token', async () => {
    const { id, slug, app, member } = await workplace();
    const { token, createdAt, expiresAt } = await tokenOf(idctl, {
      user: member.id,
      expiresInDays: 1,
    });
    const lasting = await tokenOf(idctl, { user: member.id });
    const at = (instant: string | null) => Math.floor(Date.parse(instant ?? '') / 1000);
    const organization = { id, slug, role: 'member' };
    const known = {
      active: true,
      sub: member.id,
      token_type: 'Bearer',
      scope: 'write',
      organization,
    };
    expect(await introspect(app, token)).toEqual({
      ...known,
      iat: at(createdAt),
      exp: at(expiresAt),
    });
    expect(await introspect(app, lasting.token)).toEqual({ ...known, iat: at(lasting.createdAt) });
  });

  test('P15 introspection shows the scope of a token', async () => {
    const { app, member } = await workplace();
    for (const scope of ['read', 'write', 'admin'] as const) {
      const { token } = await tokenOf(idctl, { user: member.id, scope });
      expect(await introspect(app, token)).toMatchObject({ active: true, scope });
    }
  });

  test('names the app of a bot token', async () => {
    const { app, member } = await workplace();
    const other = await appOf(idctl, { user: member.id });
    const told = await introspect(app, await other.mint());
    const known = { active: true, sub: member.id, client_id: other.clientId, scope: 'write' };
    expect(told).toMatchObject(known);
    expect(told.exp - told.iat).toBe(86_400);
  });

  test('describes the access token of a session, but not its refresh token', async () => {
    const { app, member } = await workplace();
    const { accessToken, refreshToken, post } = await signedIn(idctl, member.email);
    const told = await introspect(app, accessToken);
    expect(told).toMatchObject({ active: true, sub: member.id });
    expect(told.exp - told.iat).toBe(900);
    expect(await introspect(app, refreshToken)).toEqual(nothing);
    await post('/api/v1/auth/logout');
    expect(await introspect(app, accessToken)).toEqual(nothing);
  });

  test('tells nothing to an app of another or no organization, and then does not count as a use of the token', async () => {
    const { slug, member } = await workplace();
    const stranger = (await workplace()).app;
    const colleague = await appOf(idctl, { user: (await person(idctl)).id });
    const { id, token } = await tokenOf(idctl, { user: member.id });
    expect(await introspect(stranger, token)).toEqual(nothing);
    // An app without an organization learns nothing, not even about its owner's token.
    expect(await introspect(await appOf(idctl, { user: member.id }), token)).toEqual(nothing);
    expect(await introspect(colleague, token)).toEqual(nothing);
    await writeTokenUses(idctl.operator());
    expect((await AccessToken.findByPk(id))?.lastUsedAt).toBeNull();
    await changeMemberRole(idctl.operator(), { org: slug, user: member.id, role: 'admin' });
    const own = await appOf(idctl, { user: member.id, organization: slug });
    expect(await introspect(own, token)).toMatchObject({ active: true });
    await writeTokenUses(idctl.operator());
    expect((await AccessToken.findByPk(id))?.lastUsedAt).not.toBeNull();
  });

  test('reports tokens that are revoked, malformed or invented, or of disabled or removed people, as inactive', async () => {
    const { slug, app, member } = await workplace();
    const { id, token } = await tokenOf(idctl, { user: member.id });
    for (const text of ['none', `${token}x`, 'cos_pat_', 'a.b.c']) {
      expect(await introspect(app, text)).toEqual(nothing);
    }
    const lasting = await tokenOf(idctl, { user: member.id });
    await revokeToken(idctl.operator(), { id });
    expect(await introspect(app, token)).toEqual(nothing);
    expect((await introspect(app, lasting.token)).active).toBe(true);
    await removeMember(idctl.operator(), { org: slug, user: member.id });
    expect(await introspect(app, lasting.token)).toEqual(nothing);
    const shut = await person(idctl);
    await addMember(idctl.operator(), { org: slug, email: shut.email ?? '', role: 'member' });
    const theirs = await tokenOf(idctl, { user: shut.id });
    await disableUser(idctl.operator(), { user: shut.id });
    expect(await introspect(app, theirs.token)).toEqual(nothing);
  });

  test('answers only an authenticated client, and requires the parameter `token`', async () => {
    const { app, member } = await workplace();
    const { token } = await tokenOf(idctl, { user: member.id });
    const ask = (form: Record<string, string>, headers = {}) =>
      idctl.client().form('/api/v1/oauth/introspect', form, headers);
    expect(await ask({ token })).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await ask({ token }, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect(await ask(app.credentials)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const hinted = { token, token_type_hint: 'access_token' };
    expect((await ask(hinted, basic(app.clientId, app.clientSecret))).body.active).toBe(true);
  });
});

describe('RFC 7009 revocation', () => {
  test('revokes a token of the app itself, with an event, and answers a second request the same', async () => {
    const app = await appOf(idctl);
    const [token, other] = [await app.mint(), await app.mint()];
    for (const answer of [await revoke(app, token), await revoke(app, token)]) {
      expect([answer.status, answer.body]).toEqual([200, {}]);
    }
    expect((await useToken(idctl, token)).status).toBe(401);
    expect((await useToken(idctl, other)).status).toBe(200);
    const events = await Event.findAll({ where: { kind: 'token.revoked' } });
    expect(events.filter(({ data }) => data['app'] === app.id)).toMatchObject([
      { actor: { kind: 'app', id: app.id } },
    ]);
  });

  test('revokes no token of another app or of the owner, and gives the same answer for them and for invented tokens', async () => {
    const app = await appOf(idctl);
    const sibling = await appOf(idctl, { user: app.user });
    const others = [await sibling.mint(), (await tokenOf(idctl, { user: app.user })).token];
    for (const token of [...others, 'none', 'cos_pat_none']) {
      const answer = await revoke(app, token);
      expect([answer.status, answer.body]).toEqual([200, {}]);
    }
    for (const token of others) expect((await useToken(idctl, token)).status).toBe(200);
  });

  test('is refused if the client does not authenticate', async () => {
    const app = await appOf(idctl);
    const token = await app.mint();
    const wrong = { ...app.credentials, client_secret: 'wrong', token };
    const answer = await idctl.client().form('/api/v1/oauth/revoke', wrong);
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    expect((await useToken(idctl, token)).status).toBe(200);
  });
});

test('RFC 8414 openid-client configures itself from the issuer alone, and gets, introspects and revokes a token', async () => {
  const { app, owner } = await workplace();
  const config = await oidc.discovery(
    new URL(idctl.baseUrl),
    app.clientId,
    undefined,
    oidc.ClientSecretBasic(app.clientSecret),
    { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] },
  );
  const { access_token } = await oidc.clientCredentialsGrant(config);
  expect(await oidc.tokenIntrospection(config, access_token)).toMatchObject({
    active: true,
    sub: owner.id,
    client_id: app.clientId,
  });
  await oidc.tokenRevocation(config, access_token);
  expect(await oidc.tokenIntrospection(config, access_token)).toEqual(nothing);
  const { body } = await idctl.client().get('/.well-known/oauth-authorization-server');
  expect(body).toMatchObject({
    issuer: idctl.baseUrl,
    jwks_uri: `${idctl.baseUrl}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  });
});
