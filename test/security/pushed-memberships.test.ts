import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/database/connect.ts';
import { directOf } from '../../src/database/direct.ts';
import { applyMigrations } from '../../src/database/migrate.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Tombstone } from '../../src/database/models/tombstone.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { transaction, transactionOn } from '../../src/database/transaction.ts';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { changeApp, registerApp } from '../../src/services/people/apps/operations.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  leaveOrganization,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { appOf } from '../support/apps.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { type Answer, createClient } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { scimClient } from '../support/scim-client.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';
import { tokenOf } from '../support/tokens.ts';

// The attack: an organization makes a stranger its member, to gain rights over the stranger's apps,
// tokens or account.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const inactive = { active: false };

async function introspect(app: { credentials: Record<string, string> }, token: string) {
  const answer = await idctl
    .client()
    .form('/api/v1/oauth/introspect', { ...app.credentials, token });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** Makes an organization, an app that its owner assigned to it, and a member with a token. */
async function workplace() {
  const org = await organization(idctl);
  const app = await appOf(idctl, { user: org.owner.id, organization: org.slug });
  const member = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: member.email ?? '', role: 'member' });
  return { org, app, member, token: (await tokenOf(idctl, { user: member.id })).token };
}

/** Another organization adds the account by SCIM, which is allowed, and makes it an admin. */
async function pushAdmin(email: string) {
  const rival = await scimClient(idctl);
  await rival.create({ userName: email, emails: [{ value: email, primary: true }] });
  const boss = await signedIn(idctl, rival.org.owner.email);
  const account = await Account.findOne({ where: { email }, rejectOnEmpty: true });
  const path = `/api/v1/orgs/${rival.org.slug}/members/${account.id}`;
  expect((await boss.send('PATCH', path, { body: { role: 'admin' } })).status).toBe(200);
  return { rival, token: (await tokenOf(idctl, { user: rival.org.owner.id })).token };
}

describe('O9 an app belongs to one organization', () => {
  test('O9 O8 if another organization makes the app’s owner its admin, its members’ tokens are still inactive at the app', async () => {
    const { org, app, member, token } = await workplace();
    const pushed = await pushAdmin(org.owner.email ?? '');
    expect(await introspect(app, pushed.token)).toEqual(inactive);
    expect(await introspect(app, token)).toMatchObject({
      active: true,
      sub: member.id,
      organization: { id: org.id, slug: org.slug, role: 'member' },
    });
  });

  test('O9 the answer gives the role of the token’s account in the app’s organization, and no other role', async () => {
    const { org, app, member, token } = await workplace();
    const { rival } = await pushAdmin(member.email ?? '');
    expect(rival.org.id).not.toBe(org.id);
    expect((await introspect(app, token)).organization).toEqual({
      id: org.id,
      slug: org.slug,
      role: 'member',
    });
  });

  test('O9 for an app without an organization every token is inactive, even its owner’s, until the app gets one', async () => {
    const { org, token } = await workplace();
    const app = await appOf(idctl, { user: org.owner.id });
    const own = await app.mint();
    expect([await introspect(app, token), await introspect(app, own)]).toEqual([
      inactive,
      inactive,
    ]);
    const owner = await signedIn(idctl, org.owner.email);
    const body = { organization: org.slug };
    const named = await owner.send('PATCH', `/api/v1/me/apps/${app.id}`, { body });
    expect(named).toMatchObject({
      status: 200,
      body: { organization: { id: org.id, slug: org.slug } },
    });
    expect((await introspect(app, token)).active).toBe(true);
    expect((await introspect(app, own)).organization.role).toBe('owner');
  });

  test('O9 only an organization’s admins can assign an app to it, at registration or later', async () => {
    const { org } = await workplace();
    const member = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: member.email ?? '', role: 'member' });
    const stranger = await person(idctl);
    for (const [who, status] of [
      [member, 403],
      [stranger, 404],
    ] as const) {
      const client = await signedIn(idctl, who.email);
      const app = await appOf(idctl, { user: who.id });
      const body = { organization: org.slug };
      expect((await client.post('/api/v1/me/apps', { name: 'spy', ...body })).status).toBe(status);
      expect((await client.send('PATCH', `/api/v1/me/apps/${app.id}`, { body })).status).toBe(
        status,
      );
      expect((await client.get('/api/v1/me/apps')).body.items).toMatchObject([
        { id: app.id, organization: null },
      ]);
      // The operator cannot assign an organization that the app's owner does not administer.
      const given = { user: who.id, organization: org.slug };
      await expect(registerApp(idctl.operator(), { name: 'spy', ...given })).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(changeApp(idctl.operator(), { id: app.id, ...given })).rejects.toMatchObject({
        code: 'conflict',
      });
    }
    const admin = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: admin.email ?? '', role: 'admin' });
    const client = await signedIn(idctl, admin.email);
    const made = await client.post('/api/v1/me/apps', { name: 'own', organization: org.id });
    expect(made).toMatchObject({
      status: 201,
      body: { organization: { id: org.id, slug: org.slug } },
    });
    const { token } = await tokenOf(idctl, { user: admin.id });
    const headers = { authorization: `Bearer ${token}` };
    const body = { organization: org.slug };
    const byToken = await idctl
      .client()
      .send('PATCH', `/api/v1/me/apps/${made.body.id}`, { body, headers });
    expect(byToken.body.code).toBe('session_required');
    const told = await Event.findAll({
      where: { kind: 'app.organization.named', organizationId: org.id },
    });
    expect(told.map(({ subject }) => subject?.id)).toContain(made.body.id);
  });

  test('O9 if an app’s owner is no longer an admin of the organization, every token is inactive until the owner is an admin again', async () => {
    const { org, app, token } = await workplace();
    const heir = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: heir.email ?? '', role: 'owner' });
    const role = (to: 'member' | 'admin') =>
      changeMemberRole(idctl.operator(), { org: org.slug, user: org.owner.id, role: to });
    await role('member');
    expect(await introspect(app, token)).toEqual(inactive);
    await role('admin');
    expect((await introspect(app, token)).active).toBe(true);
    await removeMember(idctl.operator(), { org: org.slug, user: org.owner.id });
    expect(await introspect(app, token)).toEqual(inactive);
  });

  test('O9 after an app’s organization is deleted, every token is inactive, and the app still makes tokens', async () => {
    const { org, app, token } = await workplace();
    const owner = await signedIn(idctl, org.owner.email);
    await deleteOrganization(idctl.operator(), { org: org.slug });
    expect(await introspect(app, token)).toEqual(inactive);
    expect((await owner.get('/api/v1/me/apps')).body.items).toMatchObject([{ organization: null }]);
    expect(await app.mint()).toMatch(/^cos_pat_/);
  });
});

test('O9 the migration assigns each app to the only organization that its owner administers, or to none', async () => {
  const before = migrations.findIndex(({ name }) => name === '0022-app-organizations');
  const url = await freshDatabaseUrl();
  const link = await connect(
    { url, sqliteDriver },
    { poolSize: 2, patience: 5_000, foreignKeys: false },
  );
  try {
    await applyMigrations(link, migrations.slice(0, before));
    const insert = async (table: string, row: Record<string, unknown>) => {
      const values = Object.values(row).map((value) => `'${String(value)}'`);
      const sql = `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')})`;
      await transactionOn(link.sequelize, () => link.sequelize.query(sql));
    };
    const at = '2026-01-01 00:00:00.000 +00:00';
    const [acme, rival] = [randomUUID(), randomUUID()];
    for (const [id, slug] of [
      [acme, 'acme'],
      [rival, 'rival'],
    ] as const) {
      await insert('organizations', { id, slug, name: slug, created_at: at });
    }
    const appsOf = async (name: string, roles: [string, string][]) => {
      const id = randomUUID();
      await insert('accounts', { id, email: `${name}@acme.test`, ...accountOf(name, at) });
      for (const [organization_id, role] of roles) {
        const origin = '{"kind":"operator"}';
        await insert('memberships', {
          organization_id,
          account_id: id,
          role,
          origin,
          joined_at: at,
        });
      }
      const app = { id: randomUUID(), account_id: id, name, client_id: name, secret_hash: name };
      await insert('apps', { ...app, created_at: at });
    };
    await appsOf('one', [
      [acme, 'owner'],
      [rival, 'member'],
    ]);
    await appsOf('two', [
      [acme, 'owner'],
      [rival, 'admin'],
    ]);
    await appsOf('none', [[acme, 'member']]);
    await applyMigrations(link, migrations.slice(0, before + 1));
    const [rows] = await transactionOn(link.sequelize, () =>
      link.sequelize.query('SELECT name, organization_id FROM apps ORDER BY name'),
    );
    expect(rows).toEqual([
      { name: 'none', organization_id: null },
      { name: 'one', organization_id: acme },
      { name: 'two', organization_id: null },
    ]);
  } finally {
    await link.close();
  }
});

function accountOf(name: string, at: string) {
  return { name, locale: 'en', email_proof: 'operator', created_at: at };
}

/** The whole answer, except the request's id and the time. */
function wire({ status, headers, body }: Answer): string {
  const { requestId, ...rest } = body;
  expect(requestId).toBe(headers['x-request-id']);
  return JSON.stringify([status, { ...headers, date: '', 'x-request-id': '' }, rest]);
}

/** Makes an organization with a verified domain. With `add`, its owner adds a member. */
async function hiring(given?: Idctl) {
  const on = given ?? idctl;
  const org = await organization(on);
  const domain = await verifiedDomain(on, org.slug);
  const owner = await signedIn(on, org.owner.email);
  const path = `/api/v1/orgs/${org.slug}/members`;
  const add = (email: string | null, role = 'member') => owner.post(path, { email, role });
  return { org, domain, owner, add, path };
}

const membershipsOf = (accountId: string) => Membership.count({ where: { accountId } });

describe('O8 no stranger gets a pushed membership', () => {
  test('O8 adding a foreign address gives the same bytes with an account, without one, and for an existing member', async () => {
    const { org, domain, add } = await hiring();
    const stranger = await person(idctl);
    const known = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: known.email ?? '', role: 'member' });
    const below = await person(idctl, `ada@sub.${domain}`);
    const answers = [
      await add(stranger.email),
      await add(`${fresh('nobody')}@example.test`),
      await add(known.email),
      await add(below.email),
    ].map(wire);
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"code":"invite_instead"');
    expect(answers[0]).toContain('"operation":"invitation.create"');
    expect(answers[0]).toContain(`POST /api/v1/orgs/${org.slug}/invitations`);
    expect([await membershipsOf(stranger.id), await membershipsOf(below.id)]).toEqual([0, 0]);
  });

  test('O8 adding a foreign address looks up no account, so the response time shows nothing', async () => {
    const { domain, owner, add } = await hiring();
    const stranger = await person(idctl);
    let asked: unknown[] = [];
    Account.addHook('beforeFind', 'spy', ({ where }) => {
      asked.push(where);
    });
    const direct = directOf(servedDatabase());
    const { read, run } = direct;
    direct.read = (sql, bind, how) => {
      asked.push(bind);
      return read(sql, bind, how);
    };
    direct.run = (connection, sql, bind, how) => {
      asked.push(bind);
      return run(connection, sql, bind, how);
    };
    try {
      for (const email of [stranger.email, `${fresh('nobody')}@example.test`]) {
        expect((await add(email)).status).toBe(409);
      }
      expect(JSON.stringify(asked)).not.toContain('@example.test');
      asked = [];
      await add(`${fresh('nobody')}@${domain}`);
      expect(JSON.stringify(asked)).toContain(`@${domain}`);
    } finally {
      Account.removeHook('beforeFind', 'spy');
      Object.assign(direct, { read, run });
    }
    expect((await owner.get('/api/v1/me')).status).toBe(200);
  });

  test('O8 an organization can add accounts, or learn that an address has no account, only on its own verified domains', async () => {
    const { org, domain, add } = await hiring();
    const other = await hiring();
    const pending = `${fresh('pending')}.test`;
    await other.owner.post(`/api/v1/orgs/${other.org.slug}/domains`, { domain: pending });
    const own = await person(idctl, `ada@${domain}`);
    const waiting = await person(idctl, `ada@${pending}`);
    expect((await other.add(own.email)).body.code).toBe('invite_instead');
    expect((await other.add(waiting.email)).body.code).toBe('invite_instead');
    expect(await add(own.email, 'admin')).toMatchObject({
      status: 201,
      body: { userId: own.id, role: 'admin', origin: { kind: 'manual', by: org.owner.id } },
    });
    expect((await add(own.email)).body.code).toBe('already_exists');
    expect((await add(`nobody@${domain}`)).body.code).toBe('not_found');
  });

  test('O8 the operator adds any account', async () => {
    const { org } = await hiring();
    const stranger = await person(idctl);
    const input = { org: org.slug, email: stranger.email ?? '', role: 'member' } as const;
    expect(await addMember(idctl.operator(), input)).toMatchObject({ userId: stranger.id });
  });

  test('O8 with trust.domains off, every address counts as one on a verified domain', async () => {
    const { org } = await hiring();
    const stranger = await person(idctl);
    const config = { ...idctl.app.config, trust: { domains: 'off' as const } };
    const server = createServer({ ...idctl.app, config }, surface);
    await server.listen('127.0.0.1:0');
    const { accessToken } = await signedIn(idctl, org.owner.email);
    const headers = { authorization: `Bearer ${accessToken}` };
    const client = createClient(server.url ?? '', { headers });
    const added = await client.post(`/api/v1/orgs/${org.slug}/members`, {
      email: stranger.email,
      role: 'member',
    });
    await server.close();
    expect(added).toMatchObject({ status: 201, body: { userId: stranger.id } });
  });

  test('O8 an actor may try sixty foreign addresses an hour, over all organizations; own domains and other admins are not limited', async () => {
    const { org, domain, add } = await hiring();
    const second = await hiring();
    const { id } = org.owner;
    const role = 'admin';
    await addMember(idctl.operator(), { org: second.org.slug, email: org.owner.email ?? '', role });
    const owner = await signedIn(idctl, org.owner.email);
    for (let count = 0; count < 59; count += 1) {
      expect((await add(`${fresh('x')}@example.test`)).status).toBe(409);
    }
    const elsewhere = await owner.post(second.path, { email: 'x@example.test', role: 'member' });
    expect(elsewhere.status).toBe(409);
    const refused = await add((await person(idctl)).email);
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // A token of the same account counts as the same actor.
    const { token } = await tokenOf(idctl, { user: id });
    const body = { email: 'x@example.test', role: 'member' };
    const headers = { authorization: `Bearer ${token}` };
    const byToken = await idctl
      .client()
      .send('POST', `/api/v1/orgs/${second.org.slug}/members`, { body, headers });
    expect(byToken.status).toBe(429);
    expect((await add((await person(idctl, `ada@${domain}`)).email)).status).toBe(201);
    expect((await second.add('x@example.test')).status).toBe(409);
    idctl.wait(3601);
    const later = await signedIn(idctl, org.owner.email);
    expect(
      (await later.post(second.path, { email: 'x@example.test', role: 'member' })).status,
    ).toBe(409);
  });
});

describe('O8 every member but the last owner can leave', () => {
  test('O8 when a member leaves, the membership and the sessions through the organization end, and no sign-in through it restores the membership', async () => {
    const { org } = await hiring();
    const { id, email } = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    const client = await signedIn(idctl, email);
    const connection = { id: '0198c0de-0000-7000-8000-000000000001', organizationId: org.id };
    const begin = async () => {
      const account = await Account.findByPk(id, { rejectOnEmpty: true });
      const begun = transaction(() =>
        beginSession(idctl.operator(), account, { method: 'sso', connection }),
      );
      return requireSession(await begun);
    };
    const through = await begin();
    const me = (token: string) =>
      idctl.client({ headers: { authorization: `Bearer ${token}` } }).get('/api/v1/me');
    expect((await me(through.accessToken)).status).toBe(200);
    expect((await client.send('DELETE', `/api/v1/orgs/${org.slug}/members/me`)).status).toBe(204);
    expect((await client.get('/api/v1/me')).body.organizations).toEqual([]);
    expect((await me(through.accessToken)).status).toBe(401);
    expect(await Tombstone.count({ where: { organizationId: org.id, accountId: id } })).toBe(1);
    await expect(begin()).rejects.toMatchObject({ code: 'signin_failed' });
    expect((await client.send('DELETE', `/api/v1/orgs/${org.slug}/members/me`)).status).toBe(404);
    const [told] = await Event.findAll({
      where: { kind: 'member.removed', organizationId: org.id },
    });
    expect(told).toMatchObject({ actor: { kind: 'user', id }, subject: { type: 'user', id } });
    // After an admin adds the person again, the sign-in works.
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    expect((await me((await begin()).accessToken)).status).toBe(200);
  });

  test('O8 when a member leaves an organization that owns the address, every session ends', async () => {
    const { org, domain } = await hiring();
    const { id, email } = await person(idctl, `${fresh('ada')}@${domain}`);
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'admin' });
    const client = await signedIn(idctl, email);
    expect((await client.send('DELETE', `/api/v1/orgs/${org.slug}/members/me`)).status).toBe(204);
    expect((await client.get('/api/v1/me')).status).toBe(401);
    expect(await membershipsOf(id)).toBe(0);
  });

  test('O8 O3 the last owner cannot leave and is told what to do, even if two owners leave at once', async () => {
    const { org, owner } = await hiring();
    const path = `/api/v1/orgs/${org.slug}/members/me`;
    const refused = await owner.send('DELETE', path);
    expect(refused).toMatchObject({ status: 409, body: { code: 'last_owner' } });
    expect(refused.body.hint).toContain('delete the organization');
    const second = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: second.email ?? '', role: 'owner' });
    const other = await signedIn(idctl, second.email);
    const answers = await Promise.all([owner.send('DELETE', path), other.send('DELETE', path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(await Membership.count({ where: { organizationId: org.id, role: 'owner' } })).toBe(1);
  });

  test('O8 the operator has no membership to leave', async () => {
    const { org } = await hiring();
    await expect(leaveOrganization(idctl.operator(), { org: org.slug })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('O8 X10 with a button on the account page, a person leaves an organization, and the page first says what this means', async () => {
    const { org, domain } = await hiring();
    const arrived = async (email?: string) => {
      const who = await person(idctl, email);
      await addMember(idctl.operator(), { org: org.slug, email: who.email ?? '', role: 'member' });
      const client = idctl.client({ keepCookies: true });
      const asked = await open(client, `/login?identifier=${who.email}`);
      await asked.submit('/login/password', { password });
      const page = await open(client, `/account/organizations/leave?org=${org.slug}`);
      return { id: who.id, page };
    };
    const { id, page } = await arrived();
    expect(page.text).toContain(`Leave ${org.slug}?`);
    expect(page.text).toContain('Only its admins can add you again');
    expect(page.text).not.toContain('You are signed out');
    const left = await page.submit('/account/organizations/leave');
    expect(left.text).toContain('You have left the organization.');
    expect(left.text).toContain('You are not a member of an organization.');
    expect(await membershipsOf(id)).toBe(0);
    // If the organization owns the address, this session ends too.
    const own = await arrived(`${fresh('ada')}@${domain}`);
    expect(own.page.text).toContain('You are signed out, because you signed in through it.');
    const out = await own.page.submit('/account/organizations/leave');
    expect(out.text).toContain('You left the organization and are signed out.');
    expect(out.text).toContain('E-mail address or company domain');
    expect(await membershipsOf(own.id)).toBe(0);
  });

  test('O8 X10 the page tells the last owner what to do', async () => {
    const { org } = await hiring();
    const client = idctl.client({ keepCookies: true });
    const asked = await open(client, `/login?identifier=${org.owner.email}`);
    await asked.submit('/login/password', { password });
    const refused = await open(client, `/account/organizations/leave?org=${org.slug}`);
    expect([refused.status, refused.text.includes('Make another member owner first')]).toEqual([
      409,
      true,
    ]);
    expect(await membershipsOf(org.owner.id)).toBe(1);
  });
});

describe('O8 O6 `user delete` by the operator is never refused', () => {
  test('O8 O6 `user delete` names the organizations that it leaves without an owner, in the answer and in events', async () => {
    const first = await organization(idctl);
    const second = await organization(idctl);
    const shared = await organization(idctl);
    const { id, email } = first.owner;
    for (const { slug } of [second, shared]) {
      await addMember(idctl.operator(), { org: slug, email: email ?? '', role: 'owner' });
    }
    await removeMember(idctl.operator(), { org: second.slug, user: second.owner.id });
    const ownerless = [first, second].map(({ id, slug }) => ({ id, slug }));
    expect(await deleteUser(idctl.operator(), { user: id })).toMatchObject({ id, ownerless });
    const events = await Event.findAll({
      where: { kind: ['user.deleted', 'organization.ownerless'] },
      order: ['id'],
    });
    const about = events.filter(({ subject }) => subject?.id === id);
    const whole = about.find(({ kind }) => kind === 'user.deleted');
    expect(whole?.data).toEqual({ ownerless: ownerless.map(({ slug }) => slug) });
    const alone = about.filter(({ kind }) => kind === 'organization.ownerless');
    expect(alone.map(({ organizationId }) => organizationId)).toEqual(
      ownerless.map(({ id }) => id),
    );
  });

  test('O6 `user delete` frees the address and the external identities, and does not leave a tombstone', async () => {
    const { slug: org, id: organizationId } = await organization(idctl);
    const { id, email } = await person(idctl);
    await addMember(idctl.operator(), { org, email: email ?? '', role: 'member' });
    await removeMember(idctl.operator(), { org, user: id });
    const key = {
      kind: 'sso' as const,
      connectionId: '0198c0de-0000-7000-8000-000000000002',
      organizationId,
      issuer: 'https://idp.example.test',
      subject: fresh('sub'),
      linkedAt: new Date(),
    };
    await transaction(() => Identity.create({ ...key, id: randomUUID(), accountId: id }));
    expect(await deleteUser(idctl.operator(), { user: id })).toMatchObject({ ownerless: [] });
    const again = await person(idctl, email ?? '');
    await transaction(() => Identity.create({ ...key, id: randomUUID(), accountId: again.id }));
    expect(await Tombstone.count({ where: { organizationId } })).toBe(0);
    expect(again.id).not.toBe(id);
  });
});
