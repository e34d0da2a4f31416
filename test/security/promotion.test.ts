import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { AccountBrowser } from '../../src/database/models/account-browser.ts';
import { OAuthApp } from '../../src/database/models/app.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { Passkey } from '../../src/database/models/passkey.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { accountCredentials } from '../../src/services/people/credentials/credentials.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { markedCredentials } from '../../src/services/tenancy/memberships/promotion.ts';
import { removeSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
import { apply } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import { settingsFor, signInByLdap } from '../support/ldap.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { addPasskey, passkeySite as baseUrl, signInByPasskey } from '../support/passkeys.ts';
import { type Slapd, startSlapd } from '../support/slapd.ts';
import { withGoogle } from '../support/social.ts';
import { comeBack, connected, registration, signInAt } from '../support/sso.ts';
import { enrol, enrolOwn } from '../support/two-factor.ts';

// The attack: an admin points a connection at a provider of his own, and signs in as a colleague.
// Later the colleague becomes owner. What the admin got before must not lead to the owner.

let idctl: MailingIdctl;
let provider: OpenIdProvider;
let google: OpenIdProvider;
let slapd: Slapd;
beforeAll(async () => {
  const at = (path: string) =>
    startOpenIdProvider({
      clients: [
        {
          client_id: registration.clientId,
          client_secret: registration.clientSecret,
          redirect_uris: [`${baseUrl}${path}`],
        },
      ],
    });
  provider = await at('/auth/sso/callback');
  google = await at('/auth/social/google/callback');
  slapd = await startSlapd();
  idctl = await openMailingIdctl({
    baseUrl,
    social: { google: { ...registration, issuer: google.issuer } },
    outbound: { allow: ['127.0.0.1'] },
    limits: { enabled: 'off' },
    orgs: { creation: 'anyone' },
  });
});
afterAll(async () => {
  await idctl.close();
  await Promise.all([provider.stop(), google.stop(), slapd.stop()]);
});

const approve = (organizationId: string, approved: boolean) =>
  transaction(async () => {
    await SsoConnection.update({ approved }, { where: { organizationId } });
    await LdapConnection.update({ approved }, { where: { organizationId } });
  });

/** A company whose connection waits for approval, and a member with a password of her own. */
async function company() {
  const { org, domain } = await connected(idctl, provider.issuer);
  const ada = await person(idctl, `${fresh('ada')}@${domain}`);
  const email = ada.email ?? '';
  await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
  provider.people.set(email, { email, email_verified: true, name: 'Ada' });
  await approve(org.id, false);
  const enter = async () => {
    const { client, answer } = await signInAt(idctl, provider, domain, email);
    expect(answer.status).toBe(200);
    return client;
  };
  const promote = () =>
    changeMemberRole(idctl.operator(), { org: org.slug, user: email, role: 'owner' });
  const events = async (kind: string) =>
    (await listEvents(idctl.operator(), { org: org.slug, kind, limit: 50 })).items;
  return { org, domain, id: ada.id, email, enter, promote, events };
}

/** Begins to link a Google account to the signed-in person's, and returns the callback URL. */
async function linkGoogle(client: Client, sub = fresh('mallory')) {
  google.people.set(sub, { email: `${sub}@gmail.test`, email_verified: true, name: 'Mallory' });
  const page = await (await open(client, '/')).submit('/account/social', { provider: 'google' });
  const [, url = ''] = /href="([^"]*)">Continue to Google/.exec(page.body) ?? [];
  return google.signIn(url.replaceAll('&amp;', '&'), sub);
}

const signInRefused = { status: 401, body: { code: 'signin_failed' } };

const isLive = async (client: Client) => (await client.get('/api/v1/me')).status === 200;

describe('I8 when a person becomes owner, what came through an unapproved connection ends', () => {
  test('I8 a session and its key end with an event, and an own session continues', async () => {
    const { org, id, email, enter, promote, events } = await company();
    const intruder = await enter();
    const own = await signedIn(idctl, email);
    expect(await Identity.count({ where: { accountId: id, unapproved: true } })).toBe(1);
    await promote();
    expect([await isLive(intruder), await isLive(own)]).toEqual([false, true]);
    expect((await intruder.post('/api/v1/auth/refresh')).status).toBe(401);
    expect((await own.post('/api/v1/auth/refresh')).status).toBe(200);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    const [event] = await events('account.unapproved.ended');
    expect(event).toMatchObject({ subject: { id }, data: { ended: ['identity', 'session'] } });
    expect(await events('identity.unlinked')).toHaveLength(1);
    expect(org.slug).not.toBe('');
  });

  test('I8 it ends although the connection was approved afterwards', async () => {
    const { org, id, enter, promote } = await company();
    const intruder = await enter();
    await approve(org.id, true);
    const token = await intruder.post('/api/v1/me/tokens', { name: 'later' });
    expect(token.status).toBe(201);
    await promote();
    expect(await isLive(intruder)).toBe(false);
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 it ends although the connection was removed afterwards', async () => {
    const { org, id, enter, promote } = await company();
    const intruder = await enter();
    expect((await intruder.post('/api/v1/me/tokens', { name: 'then' })).status).toBe(201);
    expect((await addPasskey(intruder)).answer.status).toBe(201);
    await removeSso(idctl.operator(), { org: org.slug });
    expect(await Identity.count({ where: { accountId: id } })).toBe(1);
    await promote();
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await Passkey.count({ where: { accountId: id } })).toBe(0);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 a token, its token’s value, an app and its bot token end', async () => {
    const { id, enter, promote, events } = await company();
    const intruder = await enter();
    const made = await intruder.post('/api/v1/me/tokens', { name: 'own' });
    const app = await intruder.post('/api/v1/me/apps', { name: 'builder' });
    const bot = await idctl.client().form('/api/v1/oauth/token', {
      grant_type: 'client_credentials',
      client_id: String(app.body.clientId),
      client_secret: String(app.body.clientSecret),
    });
    expect([made.status, app.status, bot.status]).toEqual([201, 201, 200]);
    const marked = { accountId: id, unapproved: true };
    expect(await AccessToken.count({ where: marked })).toBe(2);
    await promote();
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await OAuthApp.count({ where: { accountId: id } })).toBe(0);
    const with_ = (token: string) =>
      isLive(idctl.client({ headers: { authorization: `Bearer ${token}` } }));
    expect(await with_(String(made.body.token))).toBe(false);
    expect(await with_(String(bot.body.access_token))).toBe(false);
    const [event] = await events('account.unapproved.ended');
    expect(event?.data).toEqual({ ended: ['token', 'app', 'identity', 'session'] });
  });

  test('I8 an own token and app that got a new value in such a session end', async () => {
    const { id, email, enter, promote } = await company();
    const own = await signedIn(idctl, email);
    const token = await own.post('/api/v1/me/tokens', { name: 'own' });
    const kept = await own.post('/api/v1/me/tokens', { name: 'kept' });
    const app = await own.post('/api/v1/me/apps', { name: 'own' });
    const intruder = await enter();
    const anew = [
      await intruder.post(`/api/v1/me/tokens/${token.body.id}/regenerate`),
      await intruder.post(`/api/v1/me/apps/${app.body.id}/regenerate`),
    ];
    expect(anew.map(({ status }) => status)).toEqual([200, 200]);
    await promote();
    const left = await AccessToken.findAll({ where: { accountId: id } });
    expect(left.map((row) => row.id)).toEqual([kept.body.id]);
    expect(await OAuthApp.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 a passkey ends, and so do its sessions and what they made', async () => {
    const { id, enter, promote } = await company();
    const intruder = await enter();
    const { answer, held } = await addPasskey(intruder);
    expect(answer.status).toBe(201);
    const alone = idctl.client({ keepCookies: true });
    expect((await signInByPasskey(alone, held)).status).toBe(200);
    expect((await alone.post('/api/v1/me/tokens', { name: 'by passkey' })).status).toBe(201);
    await promote();
    expect(await isLive(alone)).toBe(false);
    expect(await Passkey.count({ where: { accountId: id } })).toBe(0);
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await Account.findByPk(id)).toMatchObject({ hasPasskey: false });
    expect((await signInByPasskey(idctl.client({ keepCookies: true }), held)).status).toBe(401);
  });

  test('I8 an authenticator app ends, and no session counts as confirmed by it', async () => {
    const { id, email, enter, promote, events } = await company();
    const own = await signedIn(idctl, email);
    const confirm = await enrol(idctl, own, await enter());
    expect((await confirm()).status).toBe(204);
    await promote();
    const account = await Account.findByPk(id, { rejectOnEmpty: true });
    expect(account).toMatchObject({ totpSecret: null, totpEnabledAt: null });
    const sessions = await Session.findAll({ where: { accountId: id, endedAt: null } });
    expect(sessions.map(({ secondFactorAt }) => secondFactorAt)).toEqual([null]);
    const [event] = await events('account.unapproved.ended');
    expect(event?.data['ended']).toContain('totp');
  });

  test('I8 a password ends, and so do its sessions', async () => {
    const { id, email, enter, promote } = await company();
    const change = { currentPassword: password, newPassword: 'a password of the intruder' };
    const intruder = await enter();
    expect((await intruder.post('/api/v1/me/password', change)).status).toBe(204);
    const login = { email, password: change.newPassword };
    const browser = idctl.client({ keepCookies: true });
    expect((await browser.post('/api/v1/auth/login', login)).status).toBe(200);
    const { passwordUnapproved } = await Account.findByPk(id, { rejectOnEmpty: true });
    expect(passwordUnapproved).toBe(true);
    await promote();
    expect(await AccountBrowser.count({ where: { accountId: id } })).toBe(0);
    expect(await isLive(browser)).toBe(false);
    expect((await idctl.client().post('/api/v1/auth/login', login)).status).toBe(401);
  });

  test('I8 a new password from the operator or by mail has no mark', async () => {
    const { id, email } = await company();
    const isMarked = async () => (await Account.findByPk(id))?.passwordUnapproved;
    const mark = () =>
      transaction(() => Account.update({ passwordUnapproved: true }, { where: { id } }));
    await mark();
    await setUserPassword(idctl.operator(), { user: email, password });
    expect(await isMarked()).toBe(false);
    await mark();
    await idctl.client().post('/api/v1/auth/password/reset', { email });
    const reset = { email, code: await idctl.codeFor(email), newPassword: `${password} anew` };
    expect((await idctl.client().post('/api/v1/auth/password/reset/confirm', reset)).status).toBe(
      204,
    );
    expect(await isMarked()).toBe(false);
  });

  test('I8 a Google account that was connected in such a session ends', async () => {
    const { id, email, enter, promote } = await company();
    const intruder = await enter();
    const sub = fresh('mallory');
    expect((await comeBack(intruder, await linkGoogle(intruder, sub))).status).toBe(200);
    const { client } = await withGoogle({ idctl, google }, sub);
    expect((await client.get('/api/v1/me')).body.email).toBe(email);
    await promote();
    expect(await isLive(client)).toBe(false);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 a session and key through a directory end too', async () => {
    const { org, id, email, promote } = await company();
    const uid = fresh('ada');
    await slapd.person(uid, { mail: email });
    const settings = { org: org.slug, enabled: true, ...settingsFor(slapd) };
    await saveLdap(idctl.operator(), saveLdapInput.parse(settings));
    await approve(org.id, false);
    const { body } = await signInByLdap(idctl, { username: uid, org: org.slug });
    const authorization = `Bearer ${body.accessToken}`;
    const intruder = idctl.client({ headers: { authorization } });
    expect(await isLive(intruder)).toBe(true);
    await promote();
    expect(await isLive(intruder)).toBe(false);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 a sign-in that waits for the second factor is refused when it goes on', async () => {
    const { id, domain, email, promote } = await company();
    const code = await enrolOwn(idctl, { email });
    const { client, answer } = await signInAt(idctl, provider, domain, email);
    expect(answer.body.code).toBe('second_factor_required');
    await promote();
    expect(await client.post('/api/v1/auth/second-factor', { totpCode: code() })).toMatchObject(
      signInRefused,
    );
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I8 a link to a Google account that waits for the second factor is refused when it goes on', async () => {
    const { id, enter, promote } = await company();
    const intruder = await enter();
    const back = await linkGoogle(intruder);
    await enrol(idctl, intruder);
    expect((await comeBack(intruder, back)).body.code).toBe('second_factor_required');
    await promote();
    expect(await intruder.post('/api/v1/auth/second-factor', { totpCode: '000000' })).toMatchObject(
      signInRefused,
    );
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    expect(await Session.count({ where: { accountId: id, endedAt: null } })).toBe(0);
  });

  test('I8 O8 a sign-in that did not come through such a connection goes on', async () => {
    const { org, domain, email, promote } = await company();
    await approve(org.id, true);
    await transaction(() =>
      SsoConnection.update({ requireLocalTwoFactor: true }, { where: { organizationId: org.id } }),
    );
    const code = await enrolOwn(idctl, { email });
    const { client, answer: asked } = await signInAt(idctl, provider, domain, email);
    expect(asked.body.code).toBe('second_factor_required');
    await promote();
    const answer = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(answer.status).toBe(200);
  });

  test('I8 a key from then leads the intruder on, and what it gave ends; its own person stays signed in', async () => {
    const { org, domain, id, email, promote } = await company();
    // The intruder names the colleague's address once, and has the key from then on.
    const sub = fresh('mallory');
    provider.people.set(sub, { email, email_verified: true, name: 'Mallory' });
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
    provider.people.set(sub, { email: `${sub}@${domain}`, email_verified: true, name: 'Mallory' });
    await approve(org.id, true);
    const { client: intruder } = await signInAt(idctl, provider, domain, sub);
    expect((await intruder.get('/api/v1/me')).body.email).toBe(email);
    expect((await intruder.post('/api/v1/me/tokens', { name: 'x' })).status).toBe(201);
    provider.people.set(sub, { email, email_verified: true, name: 'Ada' });
    const { client: honest } = await signInAt(idctl, provider, domain, sub);
    await promote();
    expect([await isLive(intruder), await isLive(honest)]).toEqual([false, true]);
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
  });

  test('I8 what came through an approved connection does not end', async () => {
    const { org, id, enter, promote, events } = await company();
    await approve(org.id, true);
    const own = await enter();
    expect((await own.post('/api/v1/me/tokens', { name: 'own' })).status).toBe(201);
    expect((await addPasskey(own)).answer.status).toBe(201);
    await promote();
    expect(await isLive(own)).toBe(true);
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(1);
    expect(await Passkey.count({ where: { accountId: id } })).toBe(1);
    expect(await Identity.count({ where: { accountId: id } })).toBe(1);
    expect(await events('account.unapproved.ended')).toEqual([]);
  });

  test('I8 a token ends that was made while the connection of an earlier session was unapproved', async () => {
    const { org, id, enter, promote } = await company();
    await approve(org.id, true);
    const own = await enter();
    await approve(org.id, false);
    expect((await own.post('/api/v1/me/tokens', { name: 'then' })).status).toBe(201);
    await promote();
    expect(await isLive(own)).toBe(true);
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
  });
});

describe('I8 every way to become owner', () => {
  type Road = (org: string, email: string, owner: Client) => Promise<unknown>;
  const roads: [string, Road][] = [
    [
      'PATCH of the role',
      (org, email, owner) =>
        owner.send('PATCH', `/api/v1/orgs/${org}/members/${email}`, { body: { role: 'owner' } }),
    ],
    [
      'a document',
      (org, email) =>
        apply(idctl.operator(), org, { idctl: 1, members: [{ email, role: 'owner' }] }),
    ],
  ];
  test.each(roads)('I8 a member becomes owner by %s', async (_, promote) => {
    const { org, email, enter } = await company();
    const intruder = await enter();
    await promote(org.slug, email, await signedIn(idctl, org.owner.email));
    expect(await isLive(intruder)).toBe(false);
  });

  const joining: [string, Road][] = [
    ['the operator', (org, email) => addMember(idctl.operator(), { org, email, role: 'owner' })],
    [
      'a document',
      (org, email) =>
        apply(idctl.operator(), org, { idctl: 1, members: [{ email, role: 'owner' }] }),
    ],
    [
      'an invitation',
      async (org, email) => {
        const invite = createInvitation.input.parse({ org, email, role: 'owner' });
        const { token } = await createInvitation(idctl.operator(), invite);
        const own = await signedIn(idctl, email);
        expect((await own.post('/api/v1/invitations/accept', { token })).status).toBe(200);
        expect(await isLive(own)).toBe(true);
      },
    ],
    [
      'a new organization',
      async (_, email) => {
        const own = await signedIn(idctl, email);
        expect((await own.post('/api/v1/orgs', { name: fresh('own') })).status).toBe(201);
        expect(await isLive(own)).toBe(true);
      },
    ],
  ];
  test.each(joining)(
    'I8 a stranger becomes owner of another organization by %s',
    async (_, join) => {
      const { email, enter } = await company();
      const other = await organization(idctl);
      const intruder = await enter();
      await join(other.slug, email, await signedIn(idctl, other.owner.email));
      expect(await isLive(intruder)).toBe(false);
    },
  );

  test('I8 a role below owner ends nothing', async () => {
    const { org, email, enter } = await company();
    const intruder = await enter();
    await changeMemberRole(idctl.operator(), { org: org.slug, user: email, role: 'admin' });
    expect(await isLive(intruder)).toBe(true);
  });
});

describe('I8 a session through an unapproved connection does not create an organization', () => {
  const refused = { status: 403, body: { code: 'recent_sign_in_required', methods: [] } };

  test('I8 it is refused, also after a confirmation, by a token made in it, and after the approval', async () => {
    const { org, enter, email } = await company();
    const intruder = await enter();
    const name = fresh('new');
    expect(await intruder.post('/api/v1/orgs', { name })).toMatchObject(refused);
    const { body } = await intruder.post('/api/v1/me/tokens', { name: 'x' });
    const byToken = idctl.client({ headers: { authorization: `Bearer ${body.token}` } });
    expect(await byToken.post('/api/v1/orgs', { name })).toMatchObject(refused);
    await intruder.post('/api/v1/auth/confirm', { password });
    expect(await intruder.post('/api/v1/orgs', { name })).toMatchObject(refused);
    await approve(org.id, true);
    expect(await intruder.post('/api/v1/orgs', { name })).toMatchObject(refused);
    const again = await enter();
    expect((await again.post('/api/v1/orgs', { name })).status).toBe(201);
    expect(await isLive(again)).toBe(true);
    expect(email).not.toBe('');
  });
});

test('I8 every table with credentials of an account can have the mark, or its rows cannot outlive a promotion', () => {
  const unmarked = [
    // Only the operator, or a mail to the account's address, makes these.
    ...['login_links', 'mail_codes', 'invitations'],
    // Each is checked again when it goes on.
    'pending_sign_ins',
    // Only an owner or the operator makes them.
    'setup_links',
  ];
  const marked = new Set(markedCredentials.map(({ table }) => table));
  expect([...marked, ...unmarked].sort()).toEqual([...accountCredentials].sort());
});
