import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { OAuthApp } from '../../src/database/models/app.ts';
import { Erasure } from '../../src/database/models/erasure.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Invitation } from '../../src/database/models/invitation.ts';
import { insertRows } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { eraseDeleted } from '../../src/services/foundation/events/erase.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import {
  accountCredentials,
  withoutCredentials,
} from '../../src/services/people/credentials/credentials.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';
import { keepPasskey } from '../support/passkeys.ts';
import { scimClient } from '../support/scim-client.ts';
import { sweepNow } from '../support/sweep.ts';

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ limits: { addressFailures: 100_000 } });
});
afterAll(() => idctl.close());

/** A new person with a name of their own, and a client with a fresh session. */
async function someone(given = `${fresh('mia')}@example.test`) {
  const name = fresh('Mia Lee ');
  const { id } = await createUser(idctl.operator(), { email: given, name, password });
  return { id, email: given, name, client: await signedIn(idctl, given) };
}

const day = 86_400;
const month = 30 * day;

/** Every event whose row has this text. */
async function eventsWith(text: string): Promise<Event[]> {
  const events = await Event.findAll({ order: ['id'] });
  return events.filter((event) => JSON.stringify(event.toJSON()).includes(text));
}

describe('deleting the own account', () => {
  test('O6 a person deletes their account: everything ends, the address is free, and a mail says so', async () => {
    const mia = await someone();
    const { id: organizationId, slug: org } = await organization(idctl);
    await addMember(idctl.operator(), { org, email: mia.email, role: 'member' });
    const { token } = await createToken(idctl.operator(), { user: mia.id, name: 'ci' });
    const answer = await mia.client.send('DELETE', '/api/v1/me');
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(answer.cookies.map(({ name, value }) => [name, value])).toEqual([
      ['access_token', ''],
      ['refresh_token', ''],
      ['session_name', ''],
    ]);
    expect(await Account.findByPk(mia.id)).toBeNull();
    // The organization learns that the member has gone.
    const left = { organizationId, kind: 'member.removed' };
    expect(await Event.count({ where: left })).toBe(1);
    for (const credential of [token, mia.client.accessToken]) {
      const headers = { authorization: `Bearer ${credential}` };
      expect((await idctl.client().get('/api/v1/me', headers)).status).toBe(401);
    }
    expect(await idctl.lettersTo(mia.email)).toMatchObject([
      { subject: 'Your account was deleted - idctl' },
    ]);
    const event = await Event.findOne({ where: { kind: 'user.deleted' }, order: [['id', 'DESC']] });
    const named = { id: mia.id, name: mia.name };
    expect(event).toMatchObject({ actor: { kind: 'user', ...named }, subject: named, data: {} });
    await person(idctl, mia.email);
  });

  test('a dry run says what ends, and ends nothing', async () => {
    const mia = await someone();
    const acme = await organization(idctl);
    await addMember(idctl.operator(), { org: acme.slug, email: mia.email, role: 'admin' });
    await createToken(idctl.operator(), { user: mia.id, name: 'ci' });
    await registerApp(idctl.operator(), { user: mia.id, name: 'builder' });
    const guest = { email: `${fresh('guest')}@example.test`, role: 'member' };
    await mia.client.post(`/api/v1/orgs/${acme.slug}/invitations`, guest);
    const answer = await mia.client.send('DELETE', '/api/v1/me?dryRun=true');
    expect(answer).toMatchObject({
      status: 200,
      cookies: [],
      body: {
        ...{ id: mia.id, email: mia.email, name: mia.name, invitations: 1 },
        organizations: [{ id: acme.id, slug: acme.slug, name: acme.name }],
      },
    });
    expect(
      answer.body.credentials.map(({ kind, count }: { kind: string; count: number }) => [
        kind,
        count,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['password', 1],
        ['session', 1],
        ['pat', 1],
        ['app', 1],
      ]),
    );
    expect((await mia.client.get('/api/v1/me')).status).toBe(200);
    expect(await Erasure.count({ where: { id: mia.id } })).toBe(0);
    expect(await idctl.lettersTo(mia.email)).toEqual([]);
  });

  test('O3 the last owner of an organization cannot delete their account, until another owner is there', async () => {
    const { slug: org, owner } = await organization(idctl);
    const client = await signedIn(idctl, owner.email);
    for (const query of ['', '?dryRun=true'])
      expect(await client.send('DELETE', `/api/v1/me${query}`)).toMatchObject({
        status: 409,
        body: { code: 'last_owner', detail: `${org} would be left without an owner.` },
      });
    const { email } = await someone();
    await addMember(idctl.operator(), { org, email, role: 'owner' });
    expect((await client.send('DELETE', '/api/v1/me')).status).toBe(204);
  });

  test('O3 of two owners who delete their accounts at the same time, one stays', async () => {
    const { slug: org, owner } = await organization(idctl);
    const other = await someone();
    await addMember(idctl.operator(), { org, email: other.email, role: 'owner' });
    const clients = [await signedIn(idctl, owner.email), other.client];
    const answers = await Promise.all(clients.map((one) => one.send('DELETE', '/api/v1/me')));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  test('P18 an account whose address an organization manages cannot be deleted by its person', async () => {
    const { slug: org } = await organization(idctl);
    const domain = await verifiedDomain(idctl, org);
    const mia = await someone(`${fresh('mia')}@${domain}`);
    await rotateScimToken(idctl.operator(), { org });
    expect(await mia.client.send('DELETE', '/api/v1/me')).toMatchObject({
      status: 409,
      body: {
        code: 'address_managed',
        hint: expect.stringContaining('Only the operator can delete the account'),
      },
    });
    await deleteUser(idctl.operator(), { user: mia.id });
  });

  test('O6 deleting the account needs a session with a recent sign-in; a token is never enough', async () => {
    const mia = await someone();
    const { token } = await createToken(idctl.operator(), { user: mia.id, name: 'ci' });
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await byToken.send('DELETE', '/api/v1/me')).toMatchObject({
      status: 403,
      body: { code: 'session_required' },
    });
    idctl.wait(601);
    expect(await mia.client.send('DELETE', '/api/v1/me')).toMatchObject({
      status: 403,
      body: { code: 'recent_sign_in_required' },
    });
    expect(await Account.count({ where: { id: mia.id } })).toBe(1);
  });

  test('two requests at the same time delete the account once', async () => {
    const mia = await someone();
    const both = [1, 2].map(() => mia.client.send('DELETE', '/api/v1/me'));
    const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
    expect(statuses).toEqual([204, 401]);
    const deleted = await Event.findAll({ where: { kind: 'user.deleted' } });
    expect(deleted.filter(({ subject }) => subject?.id === mia.id)).toHaveLength(1);
  });

  test('on the account page, the person confirms, reads what ends, and deletes the account', async () => {
    const mia = await someone();
    const { slug: org, name } = await organization(idctl);
    await addMember(idctl.operator(), { org, email: mia.email, role: 'member' });
    idctl.wait(601);
    const refused = await (await open(mia.client, '/')).submit('/account/leaving');
    expect(refused.text).toContain('Before you delete your account, confirm that it is you.');
    const early = await open(mia.client, '/account/delete');
    expect([early.status, early.text]).toEqual([403, expect.stringContaining('Back')]);
    const asked = await refused.submit('/account/confirm', { password });
    expect(asked.text).toContain(`Delete your account? It is the account of ${mia.email}.`);
    expect(asked.text).toContain(`their projects: ${name}.`);
    expect(asked.text).toContain('This also deletes: 1 session.');
    expect(await Account.count({ where: { id: mia.id } })).toBe(1);
    const done = await asked.submit('/account/delete');
    expect(done.text).toContain('Your account was deleted.');
    expect(await Account.count({ where: { id: mia.id } })).toBe(0);
    expect((await open(mia.client, '/')).text).toContain('Sign in');
  });

  test('the account page refuses the last owner in its section, and says that an organization manages the account', async () => {
    const { slug: org, owner } = await organization(idctl);
    const client = await signedIn(idctl, owner.email);
    const page = await open(client, '/');
    const refused = await page.submit('/account/leaving');
    expect(refused.text).toContain(`${org} would be left without an owner.`);
    const domain = await verifiedDomain(idctl, org);
    await rotateScimToken(idctl.operator(), { org });
    const managed = await open((await someone(`${fresh('mia')}@${domain}`)).client, '/');
    expect(managed.text).toContain('An organization manages your address.');
    expect(managed.body).not.toContain('action="/account/leaving');
  });
});

describe('the export of the own data', () => {
  const exported = (client: Client) => client.get('/api/v1/me/export');

  test('the document has everything about the person, and no secret', async () => {
    const mia = await someone();
    const { slug: org, id: orgId, owner, name } = await organization(idctl);
    const boss = await signedIn(idctl, owner.email);
    await addMember(idctl.operator(), { org, email: mia.email, role: 'admin' });
    await mia.client.post(`/api/v1/orgs/${org}/projects`, { name: 'Website' });
    const website = `/api/v1/orgs/${org}/projects/website/members`;
    await mia.client.post(website, { user: mia.email, role: 'viewer' });
    const made = await mia.client.post('/api/v1/me/tokens', { name: 'ci' });
    const app = await mia.client.post('/api/v1/me/apps', { name: 'builder', organization: org });
    await keepPasskey(mia.id);
    const guest = `${fresh('guest')}@example.test`;
    const sent = await mia.client.post(`/api/v1/orgs/${org}/invitations`, {
      email: guest,
      role: 'member',
    });
    const elsewhere = await organization(idctl);
    const received = await createInvitation(idctl.operator(), {
      org: elsewhere.slug,
      email: mia.email,
      role: 'member',
    });
    const left = await organization(idctl);
    await addMember(idctl.operator(), { org: left.slug, email: mia.email, role: 'member' });
    await mia.client.send('DELETE', `/api/v1/orgs/${left.slug}/members/me`);
    const key = { id: orderedId(), accountId: mia.id, kind: 'sso' as const, organizationId: orgId };
    const linked = { connectionId: orgId, issuer: 'https://idp.test', subject: 'mia at the idp' };
    const groups = { knownGroups: ['staff'], linkedAt: new Date() };
    await transaction(() => Identity.create({ ...key, ...linked, ...groups }));
    const { status, body } = await exported(mia.client);
    expect(status).toBe(200);
    const organizationOf = { id: orgId, slug: org, name };
    expect(body).toMatchObject({
      account: {
        ...{ id: mia.id, email: mia.email, name: mia.name, emailProof: 'operator' },
        ...{ hasPassword: true, authenticatorSince: null },
        recoveryCodes: { remaining: 0, createdAt: null },
      },
      memberships: [{ organization: organizationOf, role: 'admin', origin: { kind: 'operator' } }],
      formerMemberships: [{ organization: { slug: left.slug }, endedAt: expect.any(String) }],
      projectMemberships: [{ project: { organizationId: orgId, slug: 'website' }, role: 'viewer' }],
      browsers: [{ firstSeenAt: expect.any(String), lastSeenAt: expect.any(String) }],
      sessions: [{ method: 'password', address: '127.0.0.1', endedAt: null }],
      tokens: [{ name: 'ci', prefix: made.body.prefix }],
      apps: [{ name: 'builder', organization: { slug: org } }],
      passkeys: [{ name: 'Spare' }],
      identities: [{ kind: 'sso', subject: 'mia at the idp', groups: ['staff'] }],
      applications: [],
      invitationsSent: [{ email: guest, organization: organizationOf, acceptedAt: null }],
      invitationsReceived: [{ id: received.id, organization: { slug: elsewhere.slug } }],
      scimRecords: [
        { organization: { slug: left.slug }, userName: mia.email, active: false },
        { organization: organizationOf, userName: mia.email, active: true },
      ],
      truncated: [],
    });
    expect(body.scimRecords[0].resource).toMatchObject({ userName: mia.email });
    const kinds: string[] = body.events.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(['user.created', 'session.started', 'token.created', 'member.added']),
    );
    const text = JSON.stringify(body);
    const account = await Account.findByPk(mia.id, { rejectOnEmpty: true });
    const token = await AccessToken.findOne({ where: { accountId: mia.id }, rejectOnEmpty: true });
    const stored = await OAuthApp.findOne({ where: { accountId: mia.id }, rejectOnEmpty: true });
    const invitation = await Invitation.findByPk(sent.body.id, { rejectOnEmpty: true });
    for (const secret of [
      ...[account.passwordHash, token.hash, stored.secretHash, invitation.tokenHash],
      ...[made.body.token, app.body.clientSecret, sent.body.token, received.token],
      ...[mia.client.accessToken, mia.client.refreshToken],
    ])
      expect([secret, text.includes(String(secret))]).toEqual([secret, false]);
    expect(text).not.toContain(owner.email);
    expect((await exported(boss)).body.memberships).toMatchObject([{ role: 'owner' }]);
  });

  test('each table that names an account is in the document, or is known to be left out', () => {
    const shown = [
      ...['accounts', 'account_browsers', 'sessions', 'access_tokens', 'apps', 'passkeys'],
      ...['identities', 'invitations', 'memberships', 'project_memberships', 'scim_records'],
      ...['recovery_codes', 'setup_links', 'tombstones'],
    ];
    // Secrets that are valid for minutes, and people whose roles a job plans.
    const leftOut = ['mail_codes', 'login_links', 'pending_sign_ins', 'scim_replans'];
    const all = [...accountCredentials, ...withoutCredentials].toSorted();
    expect([...shown, ...leftOut].toSorted()).toEqual(all);
  });

  test('the events are those of the person, and of organizations only where they are admin or owner', async () => {
    const mia = await someone();
    const { slug: org, owner } = await organization(idctl);
    await addMember(idctl.operator(), { org, email: mia.email, role: 'member' });
    const seen = async () => {
      const { body } = await exported(mia.client);
      return new Set<string>(body.events.map(({ kind }: { kind: string }) => kind));
    };
    expect((await seen()).has('member.added')).toBe(false);
    expect((await seen()).has('session.started')).toBe(true);
    await changeMemberRole(idctl.operator(), { org, user: mia.id, role: 'admin' });
    expect((await seen()).has('member.added')).toBe(true);
    const newPassword = 'a staple of another kind';
    await mia.client.post('/api/v1/me/password', { currentPassword: password, newPassword });
    const nora = orderedId();
    const row = { id: orderedId(), kind: 'user.deleted', at: new Date(), data: {} };
    const subject = { type: 'user', id: nora, name: 'Nora' };
    const actor = { kind: 'user', id: mia.id, name: mia.name };
    await transaction(() => insertRows('events', [{ ...row, actor, subject }]));
    const { body } = await exported(mia.client);
    const about = body.events.map((event: { subject: { id: string } }) => event.subject?.id);
    expect([about.includes(owner.id), about.includes(nora)]).toEqual([false, false]);
    const ids = body.events.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('an invitation to an address that was never proved is not shown', async () => {
    const mia = await someone();
    const { slug: org } = await organization(idctl);
    await createInvitation(idctl.operator(), { org, email: mia.email, role: 'member' });
    await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id: mia.id } }));
    expect((await exported(mia.client)).body.invitationsReceived).toEqual([]);
  });

  test('O8 what SCIM says about an address is shown only if the address was proved and the membership is not pushed', async () => {
    const theirs = await scimClient(idctl);
    const mia = await someone(`${fresh('mia')}@${fresh('d')}.test`);
    const { org } = theirs;
    await theirs.create({
      ...{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: mia.email },
      phoneNumbers: [{ value: '+43 1 2345', type: 'home' }],
    });
    const key = { id: orderedId(), accountId: mia.id, kind: 'sso' as const };
    const linked = { connectionId: org.id, issuer: 'https://idp.test', subject: mia.id };
    const from = { organizationId: org.id, knownGroups: ['staff'], linkedAt: new Date() };
    await transaction(() => Identity.create({ ...key, ...linked, ...from }));
    const told = async (emailProof: 'auto' | 'operator') => {
      await transaction(() => Account.update({ emailProof }, { where: { id: mia.id } }));
      const { body } = await exported(mia.client);
      return [body.scimRecords.length, body.identities[0].groups];
    };
    expect(await told('operator')).toEqual([0, null]);
    await verifiedDomain(idctl, org.slug, mia.email.split('@')[1]);
    expect(await told('operator')).toEqual([1, ['staff']]);
    expect(await told('auto')).toEqual([0, null]);
  });

  test('the document has the newest 10,000 entries of a list, and says which list has more', async () => {
    const mia = await someone();
    const actor = { kind: 'user', id: mia.id, name: mia.name };
    const subject = { type: 'user', id: mia.id, name: mia.name };
    const rows = Array.from({ length: 10_001 }, (_, at) => {
      const row = { id: orderedId(), kind: 'session.started', at: new Date(), actor, subject };
      return { ...row, data: { method: 'password', session: String(at) } };
    });
    await transaction(() => insertRows('events', rows));
    const { body } = await exported(mia.client);
    expect([body.events.length, body.truncated]).toEqual([10_000, ['events']]);
    expect(body.events[0].data.session).toBe('10000');
  });

  test('a token cannot export, and a person can export five times an hour', async () => {
    const mia = await someone();
    const { token } = await createToken(idctl.operator(), { user: mia.id, name: 'ci' });
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await exported(byToken)).toMatchObject({
      status: 403,
      body: { code: 'session_required' },
    });
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await exported(mia.client)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('the account page links the document', async () => {
    const mia = await someone();
    const page = await open(mia.client, '/');
    expect(page.body).toContain('href="/account/export" download="idctl-account.json"');
    const document = await open(mia.client, '/account/export');
    expect(document.headers['content-type']).toMatch(/^application\/json/);
  });
});

describe('events of a deleted account', () => {
  /** Deletes the person's account, which has events of every kind of place, and returns them. */
  async function leftBehind() {
    const mia = await someone();
    const { slug: org, owner } = await organization(idctl);
    const boss = await signedIn(idctl, owner.email);
    // She is invited, joins, becomes admin, acts as one, and is made a member again.
    const invitation = { email: mia.email, role: 'member' };
    const invited = await boss.post(`/api/v1/orgs/${org}/invitations`, invitation);
    expect(invited.status).toBe(201);
    const { token } = invited.body;
    expect((await mia.client.post('/api/v1/invitations/accept', { token })).status).toBe(200);
    await changeMemberRole(idctl.operator(), { org, user: mia.id, role: 'admin' });
    await mia.client.post(`/api/v1/orgs/${org}/projects`, { name: 'Website' });
    await mia.client.post('/api/v1/me/apps', { name: 'builder', organization: org });
    await mia.client.post('/api/v1/me/tokens', { name: `token of ${mia.name}` });
    await idctl.client().post('/api/v1/auth/login', { email: mia.email, password: 'wrong' });
    const other = await signedIn(idctl, mia.email);
    await other.post('/api/v1/auth/logout');
    const about = { about: 'code' as const, email: mia.email, reason: 'refused' };
    const abandoned = { kind: 'mail.abandoned', at: new Date(), organization_id: null };
    const row = { ...abandoned, id: orderedId(), actor: { kind: 'system', name: 'mail' } };
    await transaction(() => insertRows('events', [{ ...row, data: about }]));
    expect((await mia.client.send('DELETE', '/api/v1/me')).status).toBe(204);
    return { mia, org };
  }

  test('O6 after 30 days, events about a person who deleted the account have `deleted` in place of name and address; the id stays', async () => {
    const { mia } = await leftBehind();
    const before = await eventsWith(mia.id);
    const named = [...(await eventsWith(mia.name)), ...(await eventsWith(mia.email))];
    const kinds = new Set(named.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(
      expect.arrayContaining([
        ...['invitation.accepted', 'invitation.created', 'mail.abandoned', 'member.added'],
        ...['member.role.changed', 'project.created', 'session.ended', 'session.started'],
        ...['signin.refused', 'token.created', 'user.created', 'user.deleted'],
      ]),
    );
    idctl.wait(29 * day);
    await sweepNow(idctl.operator());
    expect((await eventsWith(mia.name)).length).toBeGreaterThan(5);
    idctl.wait(2 * day);
    await sweepNow(idctl.operator());
    // Where she acted as admin, the organization keeps her name.
    expect((await eventsWith(mia.name)).map(({ kind }) => kind)).toEqual([
      'project.created',
      'app.organization.named',
    ]);
    expect(await eventsWith(mia.email)).toEqual([]);
    const after = await eventsWith(mia.id);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const find = (kind: string) => after.filter((event) => event.kind === kind).at(-1);
    const deleted = { id: mia.id, name: 'deleted' };
    expect(find('user.deleted')).toMatchObject({ actor: deleted, subject: deleted });
    expect(find('member.role.changed')).toMatchObject({ subject: deleted, data: { to: 'admin' } });
    expect(find('signin.refused')).toMatchObject({
      subject: deleted,
      data: { address: 'deleted', method: 'password' },
    });
    expect(find('token.created')).toMatchObject({ actor: deleted, subject: { name: 'deleted' } });
    expect(find('invitation.accepted')).toMatchObject({
      actor: deleted,
      subject: { name: 'deleted' },
    });
    expect(find('session.ended')).toMatchObject({ actor: deleted });
    expect(await Erasure.count()).toBe(0);
  });

  test('events of other people and of organizations stay as they are', async () => {
    const { mia, org } = await leftBehind();
    const other = await someone();
    await addMember(idctl.operator(), { org, email: other.email, role: 'member' });
    const isHers = (event: object) => /MIA|EMAIL/.test(hide(JSON.stringify(event)));
    const hide = (text: string) => text.replaceAll(mia.id, 'MIA').replaceAll(mia.email, 'EMAIL');
    const all = async () => (await Event.findAll({ order: ['id'] })).map((event) => event.toJSON());
    const before = (await all()).filter((event) => !isHers(event));
    expect(before.length).toBeGreaterThan(5);
    await eraseDeleted({ ...idctl.operator(), now: new Date(Date.now() + 10 * 12 * month * 1000) });
    const ids = new Set(before.map(({ id }) => id));
    expect((await all()).filter(({ id }) => ids.has(id))).toEqual(before);
    expect((await eventsWith(other.name)).length).toBeGreaterThan(1);
  });

  test('O6 an event that the person caused about someone else keeps the name of the other', async () => {
    const [mia, nora] = [await someone(), orderedId()];
    const actor = { kind: 'user', id: mia.id, name: mia.name };
    const subject = { type: 'user', id: nora, name: 'Nora' };
    // As when a person confirms an address that an unverified account holds.
    const row = { id: orderedId(), kind: 'user.deleted', at: new Date(), actor, subject, data: {} };
    await transaction(() => insertRows('events', [row]));
    expect((await mia.client.send('DELETE', '/api/v1/me')).status).toBe(204);
    idctl.wait(31 * day);
    await sweepNow(idctl.operator());
    expect(await Event.findByPk(row.id)).toMatchObject({
      actor: { id: mia.id, name: 'deleted' },
      subject: { id: nora, name: 'Nora' },
    });
  });

  test('many events are erased in batches; a stopped run goes on later, and two daemons may run at the same time', async () => {
    const mia = await someone();
    const actor = { kind: 'user', id: mia.id, name: mia.name };
    const subject = { type: 'user', id: mia.id, name: mia.name };
    const rows = Array.from({ length: 1200 }, () => {
      const row = { id: orderedId(), kind: 'session.started', at: new Date(), actor, subject };
      return { ...row, data: { method: 'password', session: mia.id } };
    });
    await transaction(() => insertRows('events', rows));
    await mia.client.send('DELETE', '/api/v1/me');
    const later = () => ({
      ...idctl.operator(),
      now: new Date(idctl.app.clock().getTime() + (month + 1) * 1000),
    });
    await eraseDeleted(later(), AbortSignal.abort());
    expect((await eventsWith(mia.name)).length).toBeGreaterThan(1200);
    expect(await Erasure.count({ where: { id: mia.id } })).toBe(1);
    await Promise.all([eraseDeleted(later()), eraseDeleted(later())]);
    expect(await eventsWith(mia.name)).toEqual([]);
    expect(await Erasure.count({ where: { id: mia.id } })).toBe(0);
  });

  test('if the operator deletes an account, the events keep its name until they are deleted', async () => {
    const mia = await someone();
    await deleteUser(idctl.operator(), { user: mia.id });
    expect(await Erasure.count({ where: { id: mia.id } })).toBe(0);
    expect((await eventsWith(mia.name)).length).toBeGreaterThan(1);
    expect(await Invitation.count({ where: { email: mia.email } })).toBe(0);
  });
});
