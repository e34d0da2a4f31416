import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientOrigin } from '../../src/database/models/client.ts';
import { Event } from '../../src/database/models/event.ts';
import { ProviderRecord } from '../../src/database/models/provider-record.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { fresh, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { browserAt, enter, next, verify } from '../support/forward-auth.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { application, browserOf, walk, walkToDenial } from '../support/relying-party.ts';
import { clientOf } from '../support/scim-client.ts';

// The attack: an organization adds a stranger as a member by SCIM, which the specification allows.
// Then its site sends visitors to idctl with `prompt=none`, or through forward auth, and learns the
// stranger's name, address and account.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** Makes a client with forward auth, and a person with this address. `push` adds them by SCIM. */
async function pushing(email: string) {
  const app = await application(idctl);
  const origin = `https://${fresh('app')}.example.net`;
  const row = { origin, clientId: app.row.id, byOperator: true };
  await transaction(() => ClientOrigin.create(row));
  const { token } = await rotateScimToken(idctl.operator(), { org: app.org.slug });
  const pushed = await person(idctl, email);
  const scim = clientOf(idctl, app.org, token);
  const push = () => scim.create({ userName: email, displayName: 'Pushed Name' });
  return { app, origin, pushed, push };
}

const refusalsOf = (organizationId: string) =>
  Event.findAll({ where: { kind: 'client.refused', organizationId } });

test('O8 I4 O10 a client does not admit a pushed stranger, with or without a page, and the event does not name the stranger', async () => {
  const email = `${fresh('stranger')}@elsewhere.test`;
  const { app, pushed, push } = await pushing(email);
  await push();
  const browser = await browserOf(idctl, email);
  const silent = new URL(await walk(browser, (await app.begin({ prompt: 'none' })).path));
  const shown = await walkToDenial(browser, (await app.begin()).path);
  for (const back of [silent, shown.back]) {
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual([
      'access_denied',
      null,
    ]);
  }
  expect(await ProviderRecord.count({ where: { clientId: app.row.id } })).toBe(0);
  const [event] = await refusalsOf(app.org.id);
  expect([event?.data, event?.actor]).toMatchObject([
    { reason: 'not_a_member' },
    { kind: 'anonymous' },
  ]);
  for (const said of [pushed.id, email, 'Ada Byron'])
    expect(JSON.stringify(event)).not.toContain(said);
});

test('O8 I4 O11 forward auth does not admit a pushed stranger, and the event does not name the stranger', async () => {
  const email = `${fresh('stranger')}@elsewhere.test`;
  const { app, origin, pushed, push } = await pushing(email);
  await push();
  const browser = browserAt(idctl, origin);
  const away = next(await browser.get(next(await verify(browser))));
  const answer = await (await signedIn(idctl, email)).get(away, { accept: 'text/html' });
  expect([answer.status, answer.headers['location']]).toEqual([403, undefined]);
  const [event] = await refusalsOf(app.org.id);
  expect(event?.data).toMatchObject({ reason: 'not_a_member' });
  expect(JSON.stringify(event)).not.toContain(pushed.id);
});

test('O8 O10 O11 after a verified domain is removed, a client no longer admits the people that SCIM pushed on it', async () => {
  const domain = `${fresh('own')}.test`;
  const email = `${fresh('bo')}@${domain}`;
  const { app, origin, push } = await pushing(email);
  await verifiedDomain(idctl, app.org.slug, domain);
  await push();
  const session = await browserOf(idctl, email);
  const tokens = await app.signIn(session, { scope: 'openid profile offline_access' });
  expect(tokens.claims()?.['name']).toBe('Ada Byron');
  const browser = browserAt(idctl, origin);
  await enter(browser, session);
  const userinfo = () =>
    idctl.client().get('/oauth/userinfo', { authorization: `Bearer ${tokens.access_token}` });
  expect([(await userinfo()).status, (await verify(browser)).status]).toEqual([200, 200]);
  await removeDomain(idctl.operator(), { org: app.org.slug, domain });
  expect([(await userinfo()).status, (await verify(browser)).status]).toEqual([401, 403]);
  const refreshed = await idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token ?? '',
    client_id: app.clientId,
    client_secret: app.secret,
  });
  expect(refreshed.body.error).toBe('invalid_grant');
});

test('O8 O10 a client admits a pushed person who has accepted an invitation', async () => {
  const email = `${fresh('guest')}@elsewhere.test`;
  const { app, pushed, push } = await pushing(email);
  await push();
  const browser = await browserOf(idctl, email);
  const { back: refused } = await walkToDenial(browser, (await app.begin()).path);
  expect(refused.searchParams.get('error')).toBe('access_denied');
  const org = app.org.slug;
  const { token } = await createInvitation(idctl.operator(), { org, email, role: 'member' });
  expect((await browser.post('/api/v1/invitations/accept', { token })).status).toBe(200);
  expect((await app.signIn(browser)).claims()?.sub).toBe(pushed.id);
});

// This test is last because it opens another instance.
test('O8 O10 with `trust.domains: off`, a client admits every person that SCIM pushed', async () => {
  await idctl.close();
  idctl = await openIdctl({ trust: { domains: 'off' }, orgs: { creation: 'operator' } });
  const email = `${fresh('bo')}@elsewhere.test`;
  const { app, pushed, push } = await pushing(email);
  await push();
  expect((await app.signIn(await browserOf(idctl, email))).claims()?.sub).toBe(pushed.id);
});
