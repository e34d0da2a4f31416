import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { ScimRecord } from '../../src/database/models/scim-record.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { listScimUsers } from '../../src/services/provisioning/scim/list/records.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  listMembers,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { showUser } from '../../src/services/tenancy/profile/operations.ts';
import { fresh, password, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { clientOf, filtered, type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const address = (domain = 'elsewhere.test') => `${fresh('ada')}@${domain}`;

describe('§4.3 POST /Users', () => {
  test('§4.3 creates the account and makes the person a Member, with the event scim.user.provisioned', async () => {
    const client = await scimClient(idctl);
    const domain = await verifiedDomain(idctl, client.org.slug);
    const userName = address(domain);
    const made = await client.send('POST', '/Users', {
      schemas: [userSchema],
      userName,
      externalId: '00u1',
      name: { givenName: 'Ada', familyName: 'Byron' },
      emails: [{ value: userName, type: 'work', primary: true }],
      active: true,
    });
    expect(made.status).toBe(201);
    expect(made.headers['content-type']).toBe('application/scim+json');
    expect(made.body).toEqual({
      schemas: [userSchema],
      id: expect.any(String),
      userName,
      externalId: '00u1',
      name: { givenName: 'Ada', familyName: 'Byron' },
      emails: [{ value: userName, type: 'work', primary: true }],
      active: true,
      meta: {
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: `${idctl.baseUrl}${client.base}/Users/${made.body.id}`,
        version: 'W/"1"',
      },
    });
    expect(made.headers).toMatchObject({ etag: 'W/"1"', location: made.body.meta.location });
    const { items } = await listMembers(idctl.operator(), { org: client.org.slug, limit: 50 });
    const member = items.find(({ email }) => email === userName);
    expect(member).toMatchObject({ role: 'member', name: 'Ada Byron', origin: { kind: 'scim' } });
    const account = await Account.findOne({ where: { email: userName } });
    expect(account).toMatchObject({ emailProof: 'domain', passwordHash: null });
    const events = await client.events('scim.user.provisioned');
    expect(events).toMatchObject([
      { actor: { kind: 'scim', name: client.token.slice(0, 9) }, subject: { id: account?.id } },
    ]);
  });

  test('§4.3 reads the e-mail from userName, falling back to the first entry of emails', async () => {
    const client = await scimClient(idctl);
    const [first, second] = [address(), address()];
    await client.create({
      userName: fresh('login'),
      emails: [{ value: first }, { value: second, primary: true }],
    });
    await client.create({ userName: second, emails: [{ value: address() }] });
    for (const email of [first, second]) expect(await Account.count({ where: { email } })).toBe(1);
  });
});

describe('§4.3 POST /Users, where specification, RFC and providers differ', () => {
  test('a userName need not be an address, and an e-mail can replace it; one of the two is required', async () => {
    const client = await scimClient(idctl);
    const email = address();
    expect(await client.create({ emails: [{ value: email }] })).toMatchObject({ userName: email });
    const bare = await client.create({ userName: fresh('login') });
    expect(bare).not.toHaveProperty('emails');
    const users = await scimUsers(client);
    expect(users.find(({ id }) => id === bare.id)).toMatchObject({ email: null, active: true });
    for (const body of [{ externalId: 'x' }, { userName: '' }, { userName: '  ', emails: [] }]) {
      const refused = await client.send('POST', '/Users', body);
      expect(refused).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue', status: '400' },
      });
    }
  });

  test('the answer has the values as the client sent them, and no others', async () => {
    const client = await scimClient(idctl);
    const userName = address().toUpperCase();
    const sent = {
      userName,
      name: { familyName: 'Byron' },
      emails: [{ value: `X${userName}`, type: 'home' }],
    };
    const { id, name, emails, userName: echoed } = await client.create(sent);
    expect({ name, emails, userName: echoed }).toEqual(sent);
    expect((await client.get(`/Users/${id}`)).body).toMatchObject(sent);
  });

  test('a POST for an active member is 409 uniqueness, whatever the case of the userName', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    await client.create({ userName });
    for (const again of [userName, userName.toUpperCase()]) {
      const refused = await client.send('POST', '/Users', { userName: again });
      expect(refused).toMatchObject({
        status: 409,
        body: { scimType: 'uniqueness', status: '409' },
      });
    }
    expect(await client.events('scim.user.provisioned')).toHaveLength(1);
  });

  test('externalId need not be unique, and its case matters', async () => {
    const client = await scimClient(idctl);
    for (const _ of [1, 2]) await client.create({ userName: address(), externalId: 'same' });
    expect((await client.get(filtered('externalId eq "same"'))).body.totalResults).toBe(2);
    expect((await client.get(filtered('externalId eq "SAME"'))).body.totalResults).toBe(0);
  });

  test('a POST with the e-mail of an existing member is 409; a PUT to the member’s id adopts the member', async () => {
    const client = await scimClient(idctl);
    const member = await person(idctl);
    const email = String(member.email);
    await addMember(idctl.operator(), { org: client.org.slug, email, role: 'member' });
    const other = { userName: fresh('login'), emails: [{ value: email }] };
    expect(await client.send('POST', '/Users', other)).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    });
    const [found] = (await client.get(filtered(`userName eq "${email}"`))).body.Resources;
    expect((await client.send('PUT', `/Users/${found.id}`, other)).body).toMatchObject(other);
    expect(await client.events('scim.user.provisioned')).toEqual([]);
    const third = await client.create({ userName: fresh('login'), emails: [{ value: email }] });
    expect(third.id).not.toBe(found.id);
  });

  test('a PATCH to the id adopts a member too; after that, another User can have the address as an e-mail', async () => {
    const client = await scimClient(idctl);
    const member = await person(idctl);
    const email = String(member.email);
    await addMember(idctl.operator(), { org: client.org.slug, email, role: 'member' });
    const [found] = (await client.get(filtered(`emails eq "${email}"`))).body.Resources;
    const other = { userName: fresh('login'), emails: [{ value: email }] };
    expect((await client.send('POST', '/Users', other)).status).toBe(409);
    await client.patch(found.id, { op: 'replace', path: 'externalId', value: 'x' });
    expect((await client.send('POST', '/Users', { userName: email })).status).toBe(409);
    expect((await client.create(other)).id).not.toBe(found.id);
  });

  test('members from before the SCIM client are listed with an e-mail, given name and family name', async () => {
    const client = await scimClient(idctl);
    const { email } = client.org.owner;
    const { Resources } = (await client.get('/Users')).body;
    expect(Resources).toMatchObject([
      {
        userName: email,
        name: { givenName: 'Ada', familyName: 'Byron' },
        emails: [{ value: email, primary: true }],
        active: true,
      },
    ]);
  });

  test('a member’s new name reaches clients that have not set a name themselves, with one new version', async () => {
    const [own, client, naming] = [
      await scimClient(idctl),
      await scimClient(idctl),
      await scimClient(idctl),
    ];
    const userName = address(await verifiedDomain(idctl, own.org.slug));
    const mine = await own.create({ userName, name: { formatted: 'First Name' } });
    await addMember(idctl.operator(), { org: client.org.slug, email: userName, role: 'member' });
    await naming.create({ userName, displayName: 'Theirs' });
    const seenBy = async (one: ScimClient) =>
      (await one.get(filtered(`userName eq "${userName}"`))).body.Resources[0];
    await own.patch(mine.id, { op: 'replace', path: 'name.formatted', value: 'Second Name' });
    expect(await seenBy(client)).toMatchObject({
      displayName: 'Second Name',
      meta: { version: 'W/"2"' },
    });
    await setUserPassword(idctl.operator(), { user: userName, password });
    const browser = await signedIn(idctl, userName);
    for (const _ of [1, 2])
      await browser.send('PATCH', '/api/v1/me', { body: { name: 'Ada King' } });
    expect(await seenBy(client)).toMatchObject({
      name: { formatted: 'Ada King', givenName: 'Ada', familyName: 'King' },
      emails: [{ value: userName }],
      meta: { version: 'W/"3"' },
    });
    expect((await seenBy(own)).name).toEqual({ formatted: 'Second Name' });
    expect((await seenBy(naming)).displayName).toBe('Theirs');
  });

  test('a new SCIM token creates records for members who have none', async () => {
    const client = await scimClient(idctl);
    await transaction(() => ScimRecord.destroy({ where: { organizationId: client.org.id } }));
    expect((await client.get('/Users')).body.totalResults).toBe(0);
    const { token } = await rotateScimToken(idctl.operator(), { org: client.org.slug });
    const { body } = await clientOf(idctl, client.org, token).get('/Users');
    expect(body.Resources).toMatchObject([{ userName: client.org.owner.email }]);
  });

  test('a POST with the address of another record is 201: it creates an account without an address, and an event', async () => {
    const client = await scimClient(idctl);
    const email = address();
    const first = await client.create({ userName: email });
    const second = await client.create({ userName: fresh('login'), emails: [{ value: email }] });
    expect(second).toMatchObject({ active: true, emails: [{ value: email }] });
    const users = await scimUsers(client);
    expect(users.find(({ id }) => id === first.id)?.email).toBe(email);
    expect(users.find(({ id }) => id === second.id)?.email).toBeNull();
    expect(await client.events('scim.address.taken')).toMatchObject([
      { data: { email, record: second.id, holder: first.id } },
    ]);
    expect(await Account.count({ where: { email } })).toBe(1);
  });

  test('an account without an address gets the first address that the client sends, and keeps it', async () => {
    const client = await scimClient(idctl);
    const { id } = await client.create({ userName: fresh('login') });
    const domain = await verifiedDomain(idctl, client.org.slug);
    const [first, second] = [address(domain), address(domain)];
    await client.patch(id, { op: 'add', path: 'emails', value: [{ value: first }] });
    await client.patch(id, { op: 'replace', path: 'emails', value: [{ value: second }] });
    expect((await scimUsers(client)).find((user) => user.id === id)?.email).toBe(first);
  });

  test('active: false creates a record and an account without a membership; active: true adds the membership', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const made = await client.create({ userName, active: false });
    expect(made.active).toBe(false);
    expect(await memberNames(client)).not.toContain(userName);
    expect(await client.events('scim.user.provisioned')).toEqual([]);
    const again = await client.send('POST', '/Users', { userName, active: false });
    expect(again).toMatchObject({ status: 201, body: { id: made.id, active: false } });
    expect(await memberNames(client)).not.toContain(userName);
    expect(
      (await client.patch(made.id, { op: 'replace', path: 'active', value: true })).body.active,
    ).toBe(true);
    expect(await memberNames(client)).toContain(userName);
  });

  test('§3.2 I5 a deactivated User that is created again keeps the id, with the event scim.user.provisioned', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const made = await client.create({ userName, externalId: 'old' });
    await client.send('DELETE', `/Users/${made.id}`);
    const again = await client.create({ userName: userName.toUpperCase(), externalId: 'new' });
    expect(again).toMatchObject({ id: made.id, active: true, externalId: 'new' });
    expect(await memberNames(client)).toContain(userName);
    expect(await client.events('scim.user.provisioned')).toHaveLength(2);
  });

  test("Entra's rename of a deleted User is stored as userName, and a POST of the old name finds the person by address", async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const made = await client.create({ userName });
    const tombstone = `0123456789abcdef0123456789abcdef${userName}`;
    const gone = await client.patch(
      made.id,
      { op: 'Replace', path: 'userName', value: tombstone },
      { op: 'Replace', path: 'active', value: 'False' },
    );
    expect(gone).toMatchObject({ status: 200, body: { userName: tombstone, active: false } });
    expect(await Account.count({ where: { email: userName } })).toBe(1);
    const again = await client.create({ userName });
    expect(again).toMatchObject({ id: made.id, userName, active: true });
  });

  test('I4 a new account has a proved address only on the organization’s own domain, and never a password', async () => {
    const client = await scimClient(idctl);
    const own = address(await verifiedDomain(idctl, client.org.slug));
    const foreign = address(await verifiedDomain(idctl, (await scimClient(idctl)).org.slug));
    for (const userName of [own, foreign])
      await client.create({ userName, password: 'correct horse battery' });
    const proofs = await Account.findAll({
      where: { email: [own, foreign] },
      order: ['createdAt'],
    });
    expect(proofs).toMatchObject([
      { emailProof: 'domain', passwordHash: null },
      { emailProof: 'none', passwordHash: null },
    ]);
    expect(await showUser(idctl.operator(), { user: foreign })).toMatchObject({
      emailVerified: true,
    });
    const login = { email: own, password: 'correct horse battery' };
    expect((await idctl.client().post('/api/v1/auth/login', login)).status).toBe(401);
    const { Resources } = (await client.get('/Users')).body;
    expect(JSON.stringify(Resources)).not.toContain('correct horse');
  });

  test('I4 an existing account gains a membership and nothing else, whatever the client writes', async () => {
    const client = await scimClient(idctl);
    const domain = await verifiedDomain(idctl, client.org.slug);
    for (const email of [address(), address(domain)]) {
      const { id } = await person(idctl, email);
      const before = (await Account.findByPk(id))?.toJSON();
      const name = { givenName: 'Not', familyName: 'Ada' };
      const made = await client.create({ userName: email, name, password: 'another password 1' });
      await client.patch(made.id, {
        op: 'replace',
        value: { userName: address(), 'name.givenName': 'Never', emails: [{ value: address() }] },
      });
      expect((await Account.findByPk(id))?.toJSON()).toEqual(before);
      expect((await signedIn(idctl, email)).accessToken).toEqual(expect.any(String));
    }
  });

  test('I4 SCIM renames only the accounts that it created on the organization’s own domains', async () => {
    const client = await scimClient(idctl);
    const [own, foreign] = [address(await verifiedDomain(idctl, client.org.slug)), address()];
    for (const userName of [own, foreign]) {
      const { id } = await client.create({ userName, name: { formatted: 'First Name' } });
      await client.patch(id, { op: 'replace', path: 'name.formatted', value: 'Second Name' });
    }
    const accounts = await Account.findAll({
      where: { email: [own, foreign] },
      order: ['createdAt'],
    });
    expect(accounts.map(({ name }) => name)).toEqual(['Second Name', 'First Name']);
  });

  test('I4 if SCIM adds an account by an address on another domain, the organization sees only the name that its client sent', async () => {
    const client = await scimClient(idctl);
    const { email, id } = await person(idctl);
    const userName = String(email).toUpperCase();
    await client.create({ userName, name: { formatted: 'Somebody' } });
    const { items } = await listMembers(idctl.operator(), { org: client.org.slug, limit: 50 });
    expect(items.find(({ userId }) => userId === id)).toMatchObject({ name: 'Somebody', email });
    const { Resources } = (await client.get(filtered(`userName eq "${userName}"`))).body;
    expect(JSON.stringify(Resources)).not.toContain('Byron');
    const events = await listEvents(idctl.operator(), { org: client.org.slug, limit: 200 });
    const about = events.items.filter(({ subject }) => subject?.id === id);
    expect(about.map(({ subject }) => subject?.name)).toEqual(['Somebody']);
  });
});

describe('§4.3 PUT, PATCH and DELETE', () => {
  test('§4.3 PUT activates or deactivates the person, and activates if active is absent or null', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const { id } = await client.create({ userName });
    const put = (body: unknown) => client.send('PUT', `/Users/${id}`, body);
    expect((await put({ userName, active: false })).body.active).toBe(false);
    expect(await memberNames(client)).not.toContain(userName);
    expect((await put({ userName })).body.active).toBe(true);
    expect((await put({ userName, active: null })).body.active).toBe(true);
    expect(await memberNames(client)).toContain(userName);
    expect(await client.events('scim.user.deactivated')).toHaveLength(1);
    expect(await client.events('scim.user.provisioned')).toHaveLength(1);
  });

  test('PUT removes absent attributes but keeps an absent userName; a PUT without a known attribute is refused', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const { id } = await client.create({ userName, title: 'Countess', externalId: 'x' });
    await client.send('DELETE', `/Users/${id}`);
    for (const body of [{}, [], 'x', null, { unknown: 1 }]) {
      const refused = await client.send('PUT', `/Users/${id}`, JSON.stringify(body));
      expect([JSON.stringify(body), refused.status]).toEqual([JSON.stringify(body), 400]);
    }
    expect((await client.get(`/Users/${id}`)).body.active).toBe(false);
    const { body } = await client.send('PUT', `/Users/${id}`, {
      displayName: 'Ada',
      active: false,
    });
    expect(body).toMatchObject({ userName, displayName: 'Ada', active: false });
    expect(body).not.toHaveProperty('title');
    expect(body).not.toHaveProperty('externalId');
  });

  test('PUT and PATCH refuse a userName that another User has, and change nothing', async () => {
    const client = await scimClient(idctl);
    const taken = address();
    await client.create({ userName: taken });
    const made = await client.create({ userName: address() });
    const answers = [
      await client.send('PUT', `/Users/${made.id}`, {
        userName: taken.toUpperCase(),
        active: false,
      }),
      await client.patch(
        made.id,
        { op: 'replace', path: 'active', value: false },
        { op: 'replace', path: 'userName', value: taken },
      ),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    }
    expect((await client.get(`/Users/${made.id}`)).body).toEqual(made);
  });

  test('§4.3 PATCH replaces active; a PATCH without a change leaves version, time and events as they were', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const made = await client.create({ userName });
    const off = { op: 'replace', path: 'active', value: false };
    const gone = (await client.patch(made.id, off)).body;
    expect(gone).toMatchObject({ active: false, meta: { version: 'W/"2"' } });
    expect((await client.patch(made.id, off)).body).toEqual(gone);
    expect((await client.patch(made.id)).body).toEqual(gone);
    expect(await client.events('scim.user.deactivated')).toMatchObject([
      { actor: { kind: 'scim' }, data: { userName } },
    ]);
    expect((await client.patch(made.id, { ...off, value: true })).body.active).toBe(true);
    expect(await client.events('scim.user.provisioned')).toHaveLength(1);
    expect(await memberNames(client)).toContain(userName);
  });

  test('§3.2 a reactivated person is a Member, whatever their role was', async () => {
    const client = await scimClient(idctl);
    const { id, userName } = await client.create({ userName: address() });
    const role = async () => {
      const { items } = await listMembers(idctl.operator(), { org: client.org.slug, limit: 200 });
      return items.find(({ email }) => email === userName)?.role;
    };
    await changeMemberRole(idctl.operator(), {
      org: client.org.slug,
      user: userName,
      role: 'admin',
    });
    await client.patch(id, { op: 'replace', path: 'active', value: true });
    expect(await role()).toBe('admin');
    await client.send('DELETE', `/Users/${id}`);
    await client.send('PUT', `/Users/${id}`, { userName, active: true });
    expect(await role()).toBe('member');
  });

  test('a PATCH with one faulty operation changes nothing', async () => {
    const client = await scimClient(idctl);
    const made = await client.create({ userName: address() });
    const good = { op: 'replace', path: 'displayName', value: 'Changed' };
    const bad: [unknown, string][] = [
      [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
      [{ op: 'replace', path: 'active', value: null }, 'invalidValue'],
      [{ op: 'remove', path: 'active' }, 'invalidValue'],
      [{ op: 'remove' }, 'noTarget'],
      [{ op: 'replace', path: 'emails[value co "fax"].type', value: 'x' }, 'noTarget'],
      [{ op: 'move', path: 'displayName', value: 'x' }, 'invalidSyntax'],
      [{ op: 'replace', path: 'emails[type zz "work"].value', value: 'x' }, 'invalidFilter'],
      [{ op: 'replace', path: 'nothing', value: 1 }, 'invalidPath'],
      [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
      [{ op: 'replace', path: 'meta.created', value: 'x' }, 'mutability'],
    ];
    for (const [operation, scimType] of bad) {
      const refused = await client.patch(made.id, good, operation);
      expect([operation, refused.status, refused.body.scimType]).toEqual([
        operation,
        400,
        scimType,
      ]);
    }
    expect((await client.get(`/Users/${made.id}`)).body).toEqual(made);
  });

  test('§4.3 DELETE deactivates and answers 204 each time; the User can still be read', async () => {
    const client = await scimClient(idctl);
    const { id, userName } = await client.create({ userName: address() });
    for (const _ of [1, 2]) {
      expect(await client.send('DELETE', `/Users/${id}`)).toMatchObject({ status: 204, body: '' });
    }
    expect((await client.get(`/Users/${id}`)).body.active).toBe(false);
    expect((await client.get(filtered(`userName eq "${userName}"`))).body.totalResults).toBe(1);
    expect(await client.events('scim.user.deactivated')).toHaveLength(1);
    expect(await Account.count({ where: { email: userName } })).toBe(1);
    expect((await client.send('DELETE', '/Users/nobody')).status).toBe(404);
  });

  test('§3.2 O3 DELETE deactivates the last owner too, with the event organization.ownerless', async () => {
    const client = await scimClient(idctl);
    const [owner] = (await client.get('/Users')).body.Resources;
    expect((await client.send('DELETE', `/Users/${owner.id}`)).status).toBe(204);
    expect(await memberNames(client)).toEqual([]);
    expect(await client.events('organization.ownerless')).toHaveLength(1);
  });

  test('a User shows changes that an admin makes to the membership', async () => {
    const client = await scimClient(idctl);
    const { id, userName } = await client.create({ userName: address() });
    await removeMember(idctl.operator(), { org: client.org.slug, user: userName });
    expect((await client.get(`/Users/${id}`)).body).toMatchObject({
      active: false,
      meta: { version: 'W/"2"' },
    });
    await addMember(idctl.operator(), { org: client.org.slug, email: userName, role: 'admin' });
    expect((await client.get(`/Users/${id}`)).body.active).toBe(true);
  });
});

describe('concurrency', () => {
  test('of twenty concurrent POSTs of one userName, one is 201 and the rest 409; they create one account, membership and event', async () => {
    const client = await scimClient(idctl);
    const userName = address();
    const attempts = Array.from({ length: 20 }, () => client.send('POST', '/Users', { userName }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await Account.count({ where: { email: userName } })).toBe(1);
    expect((await memberNames(client)).filter((email) => email === userName)).toHaveLength(1);
    expect(await client.events('scim.user.provisioned')).toHaveLength(1);
  });

  test('of twenty concurrent POSTs of a person without an address, one is 201, and no extra account stays', async () => {
    const client = await scimClient(idctl);
    const before = await Account.count();
    const userName = fresh('login');
    const attempts = Array.from({ length: 20 }, () => client.send('POST', '/Users', { userName }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    expect(await Account.count()).toBe(before + 1);
  });

  test('of twenty concurrent POSTs that reactivate a person, one is 201', async () => {
    const client = await scimClient(idctl);
    const { id, userName } = await client.create({ userName: address() });
    await client.send('DELETE', `/Users/${id}`);
    const attempts = Array.from({ length: 20 }, () => client.send('POST', '/Users', { userName }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await client.events('scim.user.provisioned')).toHaveLength(2);
  });

  test('after concurrent activations and deactivations, record and membership agree, and each change has one event', async () => {
    const client = await scimClient(idctl);
    const { id, userName } = await client.create({ userName: address() });
    const toggles = Array.from({ length: 20 }, (_, at) =>
      client.patch(id, { op: 'replace', path: 'active', value: at % 2 === 0 }),
    );
    for (const { status } of await Promise.all(toggles)) expect(status).toBe(200);
    const { active } = (await client.get(`/Users/${id}`)).body;
    expect((await memberNames(client)).includes(userName)).toBe(active);
    const [gone, back] = [
      await client.events('scim.user.deactivated'),
      await client.events('member.added'),
    ];
    const returned = back.filter(({ data }) => data['record'] === id);
    expect(gone.length - returned.length).toBe(active ? 0 : 1);
  });

  test('concurrent POSTs, PUTs and PATCHes with the same userNames and addresses do not deadlock', async () => {
    const client = await scimClient(idctl);
    for (let round = 0; round < 12; round += 1) {
      const made = await Promise.all([1, 2].map(() => client.create({ userName: fresh('login') })));
      const [name, other] = [fresh('one'), fresh('other')];
      const wanted = [name, other].map((userName) => ({
        userName,
        emails: [{ value: address() }],
      }));
      const all = wanted.flatMap((resource) => [
        client.send('POST', '/Users', resource),
        ...made.map(({ id }) => client.patch(id, { op: 'replace', value: resource })),
        ...made.map(({ id }) => client.send('PUT', `/Users/${id}`, resource)),
      ]);
      for (const { status } of await Promise.all(all)) expect([200, 201, 409]).toContain(status);
    }
  });
});

async function scimUsers(client: ScimClient) {
  return (await listScimUsers(idctl.operator(), { org: client.org.slug, limit: 200 })).items;
}

async function memberNames(client: ScimClient) {
  const { items } = await listMembers(idctl.operator(), { org: client.org.slug, limit: 200 });
  return items.map(({ email }) => email);
}
