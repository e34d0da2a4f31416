import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account, type EmailProof } from '../../src/database/models/account.ts';
import { OAuthApp } from '../../src/database/models/app.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember, addMemberAsOperator } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { showUser } from '../../src/services/tenancy/profile/operations.ts';
import { fresh, password, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';

// The attack: on an instance without mail, a stranger signs up with a company's address and makes a
// token. Later, the company verifies the domain and makes the account a member (security I3).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ signup: { open: 'on' } });
});
afterAll(() => idctl.close());

/** An account that a stranger made with another person's address, and its credentials. */
async function squatted(email: string, emailProof: EmailProof = 'auto') {
  const client = idctl.client({ keepCookies: true });
  const { body } = await client.post('/api/v1/auth/signup', { email, password, name: 'Mallory' });
  const id = String(body.user.id);
  const { token } = (await client.post('/api/v1/me/tokens', { name: 'for later' })).body;
  await registerApp(idctl.operator(), { user: id, name: 'for later' });
  await transaction(() => Account.update({ emailProof }, { where: { id } }));
  const ways = async () => ({
    session: (await client.get('/api/v1/me')).status,
    token: (await idctl.client().get('/api/v1/me', { 'x-api-key': String(token) })).status,
    apps: await OAuthApp.count({ where: { accountId: id } }),
    password: (await idctl.client().post('/api/v1/auth/login', { email, password })).status,
  });
  const name = async () => (await Account.findByPk(id))?.name;
  return { id, email, token: String(token), ways, name };
}

const ended = { session: 401, token: 401, apps: 0, password: 401 };
const live = { session: 200, token: 200, apps: 1, password: 200 };

/** A company that verifies its domain only when the test calls `verify`. */
async function company() {
  const client = await scimClient(idctl);
  const domain = `${fresh('corp')}.test`;
  const owner = await signedIn(idctl, client.org.owner.email);
  return { client, domain, owner, verify: () => verifiedDomain(idctl, client.org.slug, domain) };
}

async function reclaimed({ org }: ScimClient) {
  return (
    await listEvents(idctl.operator(), { org: org.slug, kind: 'account.reclaimed', limit: 50 })
  ).items;
}

const isMember = async ({ org }: ScimClient, accountId: string) =>
  (await Membership.count({ where: { organizationId: org.id, accountId } })) === 1;

const add = (owner: Client, { org }: ScimClient, email: string) =>
  owner.post(`/api/v1/orgs/${org.slug}/members`, { email, role: 'member' });

const activate = { op: 'replace', path: 'active', value: true };

/** Every request by which a SCIM client makes a person a member. Each returns the User. */
const ways: [string, (client: ScimClient, userName: string) => Promise<{ id: string }>][] = [
  ['POST', (client, userName) => client.create({ userName, name: { formatted: 'The Boss' } })],
  [
    'PATCH of a User created inactive',
    async (client, userName) => {
      const made = await client.create({
        userName,
        name: { formatted: 'The Boss' },
        active: false,
      });
      return (await client.patch(made.id, activate)).body;
    },
  ],
  [
    'PUT of a User created inactive',
    async (client, userName) => {
      const body = { userName, name: { formatted: 'The Boss' } };
      const made = await client.create({ ...body, active: false });
      return (await client.send('PUT', `/Users/${made.id}`, body)).body;
    },
  ],
  [
    'POST of a User created inactive',
    async (client, userName) => {
      await client.create({ userName, active: false });
      return client.create({ userName, name: { formatted: 'The Boss' } });
    },
  ],
];

describe('I3 before the domain’s organization makes the account a member', () => {
  test.each(ways)(
    'I3 a stranger’s credentials are removed before SCIM makes the account a member: %s',
    async (_, provision) => {
      const { client, domain, verify } = await company();
      const stranger = await squatted(`boss@${domain}`);
      await verify();
      expect(await stranger.ways()).toEqual(live);
      const user = await provision(client, stranger.email);
      expect(user).toMatchObject({
        userName: stranger.email,
        name: { formatted: 'The Boss' },
        active: true,
      });
      expect(await stranger.ways()).toEqual(ended);
      expect(await isMember(client, stranger.id)).toBe(true);
      expect(await Account.findByPk(stranger.id)).toMatchObject({
        emailProof: 'domain',
        name: 'The Boss',
      });
      expect(await reclaimed(client)).toMatchObject([
        {
          actor: { kind: 'scim' },
          subject: { id: stranger.id, name: 'The Boss' },
          data: { by: 'domain' },
        },
      ]);
    },
  );

  test('I3 a stranger’s credentials and name are removed before an admin adds the account as a member', async () => {
    const { client, domain, owner, verify } = await company();
    const stranger = await squatted(`boss@${domain}`);
    await verify();
    expect(await add(owner, client, stranger.email)).toMatchObject({
      status: 201,
      body: { userId: stranger.id, email: stranger.email, name: 'boss' },
    });
    expect(await stranger.ways()).toEqual(ended);
    expect(await reclaimed(client)).toMatchObject([{ subject: { name: 'boss' } }]);
    const seen = JSON.stringify((await client.get('/Users')).body);
    expect(seen).not.toContain('Mallory');
  });

  test('I3 SCIM does not bring back the name of a stranger who was a member before', async () => {
    const { client, domain, verify } = await company();
    const [stranger, renamed] = [
      await squatted(`boss@${domain}`),
      await squatted(`chief@${domain}`),
    ];
    for (const { email } of [stranger, renamed]) {
      await addMember(idctl.operator(), { org: client.org.slug, email, role: 'member' });
      await removeMember(idctl.operator(), { org: client.org.slug, user: email });
    }
    await verify();
    const { Resources } = (await client.get('/Users')).body;
    const idOf = (email: string) =>
      Resources.find(({ userName }: { userName: string }) => userName === email).id as string;
    const back = await client.patch(idOf(stranger.email), activate);
    expect(back.body).toMatchObject({ displayName: 'boss', name: { formatted: 'boss' } });
    expect((await client.get(`/Users/${back.body.id}`)).body).toEqual(back.body);
    const other = await client.patch(idOf(renamed.email), activate, {
      op: 'replace',
      path: 'externalId',
      value: 'x',
    });
    expect(other.body).toMatchObject({ externalId: 'x', displayName: 'chief' });
    expect([await stranger.ways(), await renamed.ways()]).toEqual([ended, ended]);
    expect([await stranger.name(), await renamed.name()]).toEqual(['boss', 'chief']);
  });

  test('I3 no credential ends before the domain is verified, by a refused request, or by an inactive User', async () => {
    const { client, domain, owner, verify } = await company();
    const [early, twice, waiting] = [`early@${domain}`, `twice@${domain}`, `waiting@${domain}`];
    const strangers = [await squatted(early), await squatted(twice), await squatted(waiting)];
    await client.create({ userName: early });
    await addMember(idctl.operator(), { org: client.org.slug, email: twice, role: 'member' });
    await verify();
    expect((await add(owner, client, twice)).status).toBe(409);
    expect((await client.send('POST', '/Users', { userName: early })).status).toBe(409);
    const { id } = await client.create({ userName: waiting, active: false });
    const broken = { op: 'replace', path: 'nothing', value: 1 };
    expect((await client.patch(id, activate, broken)).status).toBe(400);
    for (const stranger of strangers) {
      expect(await stranger.ways()).toEqual(live);
      expect(await stranger.name()).toBe('Mallory');
    }
    expect(await reclaimed(client)).toEqual([]);
  });

  test('I3 no credential ends if another organization makes the account a member', async () => {
    const [mine, theirs] = [await company(), await company()];
    const stranger = await squatted(`boss@${mine.domain}`);
    await mine.verify();
    await theirs.verify();
    await theirs.client.create({ userName: stranger.email });
    await addMember(idctl.operator(), {
      org: (await scimClient(idctl)).org.slug,
      email: stranger.email,
      role: 'member',
    });
    expect(await stranger.ways()).toEqual(live);
    expect(await reclaimed(theirs.client)).toEqual([]);
  });

  test('I3 under `trust.domains: off`, an organization treats a domain that no organization has verified as its own', async () => {
    const [mine, theirs] = [await company(), await company()];
    const [free, owned] = [
      await squatted(`free@${mine.domain}`),
      await squatted(`owned@${theirs.domain}`),
    ];
    await theirs.verify();
    const { config } = idctl.app;
    idctl.app.config = { ...config, trust: { ...config.trust, domains: 'off' } };
    try {
      for (const { email } of [free, owned]) await mine.client.create({ userName: email });
    } finally {
      idctl.app.config = config;
    }
    expect([await free.ways(), await owned.ways()]).toEqual([ended, live]);
  });

  test.each(['mail', 'operator', 'social', 'domain'] as const)(
    'I3 an account whose proof is %s loses nothing when SCIM or an admin makes it a member',
    async (proof) => {
      const { client, domain, owner, verify } = await company();
      const [one, other] = [
        await squatted(`one@${domain}`, proof),
        await squatted(`other@${domain}`, proof),
      ];
      await verify();
      await client.create({ userName: one.email, name: { formatted: 'Never' } });
      expect((await add(owner, client, other.email)).status).toBe(201);
      for (const person of [one, other]) {
        expect(await person.ways()).toEqual(live);
        expect(await person.name()).toBe('Mallory');
      }
      expect(await reclaimed(client)).toEqual([]);
    },
  );

  test('I3 tokens from before a domain changed hands are revoked before the new owner makes the account a member', async () => {
    const former = await company();
    await former.verify();
    const { userName } = await former.client.create({ userName: `boss@${former.domain}` });
    const account = await Account.findOne({ where: { email: userName }, rejectOnEmpty: true });
    const { token } = await createToken(idctl.operator(), { user: account.id, name: 'for later' });
    await removeDomain(idctl.operator(), { org: former.client.org.slug, domain: former.domain });
    const next = await scimClient(idctl);
    await verifiedDomain(idctl, next.org.slug, former.domain);
    await next.create({ userName, name: { formatted: 'The Boss' } });
    expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(401);
    expect(await Account.findByPk(account.id)).toMatchObject({
      emailProof: 'domain',
      name: 'The Boss',
    });
  });

  test('I3 the operator must choose whether an unproved account keeps its credentials', async () => {
    const { client, domain, verify } = await company();
    const [open, kept, gone] = [
      await squatted(`open@${domain}`),
      await squatted(`kept@${domain}`),
      await squatted(`gone@${domain}`),
    ];
    await verify();
    const as = (email: string) => ({ org: client.org.slug, email, role: 'member' as const });
    await expect(addMember(idctl.operator(), as(open.email))).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/--yes.*--keep-credentials/s),
    });
    expect(await isMember(client, open.id)).toBe(false);
    await addMemberAsOperator(idctl.operator(), { ...as(kept.email), credentials: 'keep' });
    await addMemberAsOperator(idctl.operator(), { ...as(gone.email), credentials: 'end' });
    expect([await open.ways(), await kept.ways(), await gone.ways()]).toEqual([live, live, ended]);
    expect([await kept.name(), await gone.name()]).toEqual(['Mallory', 'gone']);
    expect(await reclaimed(client)).toMatchObject([{ subject: { id: gone.id } }]);
  });

  test('I3 the operator sees how an address was proved, and the account’s credentials, by kind and organization', async () => {
    const { client, domain } = await company();
    const stranger = await squatted(`boss@${domain}`);
    await transaction(() =>
      Identity.create({
        id: crypto.randomUUID(),
        accountId: stranger.id,
        kind: 'sso',
        connectionId: client.org.id,
        organizationId: client.org.id,
        issuer: 'https://provider.test',
        subject: 'mallory',
        linkedAt: new Date('2026-01-02T03:04:05.000Z'),
      }),
    );
    const { emailProof, awaitsCode, credentials } = await showUser(idctl.operator(), {
      user: stranger.id,
    });
    expect({ emailProof, awaitsCode }).toEqual({ emailProof: 'auto', awaitsCode: false });
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const made = { organization: null, count: 1, first: time, last: time };
    const linkedAt = '2026-01-02T03:04:05.000Z';
    expect(credentials).toEqual([
      { ...made, kind: 'password', first: null, last: null },
      { ...made, kind: 'pat' },
      { ...made, kind: 'app' },
      { ...made, kind: 'session' },
      { ...made, kind: 'identity', organization: client.org.slug, first: linkedAt, last: linkedAt },
    ]);
  });
});
