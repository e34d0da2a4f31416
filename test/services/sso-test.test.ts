import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration } from '../support/sso.ts';

let provider: OpenIdProvider;
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startOpenIdProvider({
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`],
      },
      {
        client_id: 'other',
        client_secret: 'another secret',
        redirect_uris: ['https://elsewhere.test/callback'],
      },
    ],
  });
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

interface Step {
  name: string;
  ok: boolean;
  hint?: string;
}

/** Creates a connected organization with a signed-in owner; `ask` runs the test as the owner. */
async function tester(more: Record<string, unknown> = {}) {
  const { org } = await connected(idctl, provider.issuer, more);
  const admin = await signedIn(idctl, org.owner.email);
  const path = `/api/v1/orgs/${org.slug}/sso/test`;
  return { org, admin, ask: (body?: object) => admin.post(path, body) };
}

const failedIn = (answer: { body: { steps: Step[] } }) => answer.body.steps.filter(({ ok }) => !ok);

describe('interface page: POST …/sso/test', () => {
  test('the stored connection passes every step', async () => {
    const { ask } = await tester();
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      ok: true,
      message: 'All checks passed. Now sign in with a browser.',
    });
    expect(answer.body.steps.map(({ name }: Step) => name)).toEqual([
      'name',
      'TLS',
      'discovery',
      'issuer',
      'endpoints',
      'keys',
      'client authentication',
      'redirect URI',
      'clock',
    ]);
    expect(answer.body.steps[7]).toMatchObject({ seen: 'the provider sends people back to it' });
  });

  test('a wrong secret fails the step client authentication, and the answer does not contain it', async () => {
    const { ask } = await tester();
    const answer = await ask({ clientSecret: 'a canary of a secret' });
    expect(answer).toMatchObject({ status: 200, body: { ok: false } });
    expect(answer.body.message).toBe(
      'Step 7, client authentication, failed: not accepted (invalid_client).',
    );
    expect(failedIn(answer)).toMatchObject([{ name: 'client authentication' }]);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  test('a redirect URI that is not registered at the provider fails its step, with a hint that names it', async () => {
    const { ask } = await tester();
    const redirectUri = 'https://id.acme.test/auth/sso/callback';
    expect(failedIn(await ask({ redirectUri }))).toMatchObject([
      { name: 'redirect URI', hint: expect.stringContaining(redirectUri) },
    ]);
    expect(failedIn(await ask({ redirectUri: null }))).toEqual([]);
  });

  test('a clock that is two minutes ahead fails its step', async () => {
    const { ask } = await tester();
    idctl.wait(120);
    const answer = await ask();
    idctl.wait(-120);
    expect(failedIn(answer)).toMatchObject([{ name: 'clock' }]);
  });

  test('S10 a changed issuer or client ID needs the secret again', async () => {
    const { ask } = await tester();
    for (const change of [{ issuer: 'https://evil.test' }, { clientId: 'other' }]) {
      for (const clientSecret of [undefined, '']) {
        expect(await ask({ ...change, clientSecret })).toMatchObject({
          status: 409,
          body: { code: 'secret_required' },
        });
      }
    }
    const answer = await ask({ clientId: 'other', clientSecret: 'another secret' });
    expect(failedIn(answer)).toMatchObject([{ name: 'redirect URI' }]);
  });

  test('the test also accepts fields that it does not use, and saves nothing', async () => {
    const { ask, admin, org } = await tester();
    const before = await admin.get(`/api/v1/orgs/${org.slug}/sso`);
    const {
      hasClientSecret: _,
      approved: __,
      changedBy: ___,
      pointsAt: ____,
      ...settings
    } = before.body;
    const whole = {
      ...settings,
      groupsClaim: 'roles',
      emailDomain: 'x.test',
    };
    expect((await ask(whole)).body.ok).toBe(true);
    expect((await admin.get(`/api/v1/orgs/${org.slug}/sso`)).body).toEqual(before.body);
  });

  test('without a stored connection, every value must be given', async () => {
    const org = await organization(idctl);
    const admin = await signedIn(idctl, org.owner.email);
    const ask = (body: object) => admin.post(`/api/v1/orgs/${org.slug}/sso/test`, body);
    expect(await ask({})).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await ask({ issuer: provider.issuer })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'clientId' }] },
    });
    expect(await ask({ issuer: provider.issuer, clientId: 'idctl' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'clientSecret' }] },
    });
    expect((await ask({ issuer: provider.issuer, ...registration })).body.ok).toBe(true);
  });

  test('S9 an address that is not allowed fails its step, with a hint that names outbound.allow', async () => {
    const { ask } = await tester();
    const answer = await ask({ issuer: 'https://169.254.169.254', clientSecret: 's' });
    expect(answer.status).toBe(200);
    expect(failedIn(answer)).toMatchObject([
      { name: 'name', hint: expect.stringContaining('outbound.allow') },
    ]);
  });

  test('a member can neither run the test nor list the attempts', async () => {
    const { org } = await tester();
    const member = await person(idctl, `${fresh('mia')}@example.test`);
    await addMember(idctl.operator(), { org: org.slug, email: member.email ?? '', role: 'member' });
    const client = await signedIn(idctl, member.email);
    expect((await client.post(`/api/v1/orgs/${org.slug}/sso/test`)).status).toBe(403);
    expect((await client.get(`/api/v1/orgs/${org.slug}/sso/attempts`)).status).toBe(403);
  });
});
