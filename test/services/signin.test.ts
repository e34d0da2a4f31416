import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { organization, password, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const login = (email: string | null, given = password) =>
  idctl.client().post('/api/v1/auth/login', { email, password: given });
const put = (org: string, settings: Record<string, boolean>) =>
  saveSignInSettings(idctl.operator(), saveSignInSettings.input.parse({ org, ...settings }));

const defaults = {
  password: true,
  passkey: true,
  magicCode: false,
  google: true,
  github: true,
  allowSelfSignup: false,
  restrictOauthToVerifiedDomains: false,
};

describe('§2.9 sign-in settings of an organization', () => {
  test('§2.9 start with the defaults; PUT sets absent fields to their defaults, and records an event', async () => {
    const org = await organization(idctl);
    const owner = await signedIn(idctl, org.owner.email);
    const path = `/api/v1/orgs/${org.slug}/signin-settings`;
    expect((await owner.get(path)).body).toEqual(defaults);
    const saved = await owner.send('PUT', path, { body: { github: false, magicCode: true } });
    expect(saved).toMatchObject({
      status: 200,
      body: { ...defaults, github: false, magicCode: true },
    });
    const again = await owner.send('PUT', path, { body: { google: false } });
    expect(again.body).toEqual({ ...defaults, google: false });
    expect((await owner.get(path)).body).toEqual({ ...defaults, google: false });
    const { items } = await listEvents(idctl.operator(), {
      org: org.slug,
      kind: 'signin.saved',
      limit: 50,
    });
    expect(items.at(-1)?.data).toEqual({ ...defaults, google: false });
  });

  test('O2 an unknown setting is refused', async () => {
    const org = await organization(idctl);
    const owner = await signedIn(idctl, org.owner.email);
    const body = { anything: true };
    const answer = await owner.send('PUT', `/api/v1/orgs/${org.slug}/signin-settings`, { body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'anything' }] } });
  });
});

test('O1 with passwords off, the right password is refused with the allowed methods; a wrong password gets the usual answer', async () => {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const { email } = await person(idctl, `ada@${domain}`);
  const before = await login(email, 'not the password');
  await put(org.slug, { password: false });
  const refused = await login(email);
  expect(refused).toMatchObject({
    status: 403,
    body: { code: 'signin_method_off', methods: [] },
    cookies: [],
  });
  const wrong = await login(email, 'not the password');
  expect({ ...wrong.body, requestId: '' }).toEqual({ ...before.body, requestId: '' });
});
