import { afterAll, beforeAll, expect, test } from 'vitest';
import { Membership } from '../../src/database/models/membership.ts';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { pagesOf, readAll } from '../support/events.ts';
import { createClient } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

async function team() {
  const org = await organization(idctl);
  const member = await person(idctl);
  const admin = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: member.email ?? '', role: 'member' });
  await addMember(idctl.operator(), { org: org.slug, email: admin.email ?? '', role: 'admin' });
  const base = `/api/v1/orgs/${org.slug}`;
  const clients = {
    owner: await signedIn(idctl, org.owner.email),
    admin: await signedIn(idctl, admin.email),
    member: await signedIn(idctl, member.email),
  };
  return { org, base, ...clients, people: { owner: org.owner, admin, member } };
}

test('an organization is found by id or slug; a person who is not a member gets 404, not 403', async () => {
  const { org, owner, base } = await team();
  const stranger = await signedIn(idctl, (await person(idctl)).email);
  expect((await owner.get(base)).body).toMatchObject({ id: org.id, slug: org.slug, role: 'owner' });
  expect((await owner.get(`/api/v1/orgs/${org.id}`)).body.slug).toBe(org.slug);
  expect(await stranger.get(base)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await stranger.get('/api/v1/orgs/no-such-org')).body.detail).toContain('no-such-org');
  expect((await stranger.get('/api/v1/orgs')).body.items).toEqual([]);
});

test('by default only the operator creates organizations', async () => {
  const { owner } = await team();
  const refused = await owner.post('/api/v1/orgs', { name: 'Mine' });
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});

test('§2.6 members, admins and owners have different rights, and a request without the right gets 403', async () => {
  const { member, admin, base, people } = await team();
  expect((await member.get(`${base}/members`)).body.items).toHaveLength(3);
  expect((await member.get(`${base}/domains`)).status).toBe(403);
  expect((await admin.get(`${base}/domains`)).status).toBe(200);
  expect((await admin.send('PATCH', base, { body: { name: 'New' } })).status).toBe(403);
  expect(
    (await admin.send('PATCH', `${base}/members/${people.member.id}`, { body: { role: 'admin' } }))
      .status,
  ).toBe(200);
});

test('only an owner can give or remove the owner role', async () => {
  const { admin, owner, base, people } = await team();
  const role = (who: typeof admin, user: string, to: string) =>
    who.send('PATCH', `${base}/members/${user}`, { body: { role: to } });
  expect((await role(admin, people.member.id, 'owner')).status).toBe(403);
  expect((await role(admin, people.owner.id, 'member')).status).toBe(403);
  expect((await admin.send('DELETE', `${base}/members/${people.owner.id}`)).status).toBe(403);
  const stranger = await person(idctl);
  expect(
    (await admin.post(`${base}/members`, { email: stranger.email, role: 'owner' })).status,
  ).toBe(403);
  expect((await role(owner, people.member.id, 'owner')).status).toBe(200);
});

test('an admin cannot remove the owner role, even at the moment it is given', async () => {
  const { org, people } = await team();
  const token = { via: 'pat', tokenId: '', scope: 'admin' } as const;
  const actor = { kind: 'user', accountId: people.admin.id, name: 'admin', ...token } as const;
  for (let round = 0; round < 10; round += 1) {
    const { id: user, email } = await person(idctl);
    const at = { org: org.slug, user };
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    const admin = idctl.as(actor);
    const [granted] = await Promise.allSettled([
      changeMemberRole(idctl.operator(), { ...at, role: 'owner' }),
      round % 2 === 0 ? changeMemberRole(admin, { ...at, role: 'admin' }) : removeMember(admin, at),
    ]);
    const membership = await Membership.findOne({
      where: { organizationId: org.id, accountId: user },
    });
    expect(membership?.role).toBe(granted.status === 'fulfilled' ? 'owner' : undefined);
  }
});

test('session_required: an owner’s token cannot give the owner role, but can remove it', async () => {
  const { org, owner, base, people } = await team();
  const { token } = await createToken(idctl.operator(), { user: org.owner.id, name: 'ci' });
  const client = idctl.client({ headers: { authorization: `Bearer ${token}` } });
  const path = `${base}/members/${people.member.id}`;
  expect(await client.send('PATCH', path, { body: { role: 'owner' } })).toMatchObject({
    status: 403,
    body: { code: 'session_required' },
  });
  expect((await owner.send('PATCH', path, { body: { role: 'owner' } })).status).toBe(200);
  expect((await client.send('PATCH', path, { body: { role: 'member' } })).body).toMatchObject({
    role: 'member',
  });
});

test('with orgs.creation: anyone, a person who creates an organization is its owner', async () => {
  const { member, people } = await team();
  const config = { ...idctl.app.config, orgs: { creation: 'anyone' as const } };
  const server = createServer({ ...idctl.app, config }, surface);
  await server.listen('127.0.0.1:0');
  const headers = { authorization: `Bearer ${member.accessToken}` };
  const client = createClient(server.url ?? '', { headers });
  const name = fresh('own');
  const made = await client.post('/api/v1/orgs', { name });
  expect(made).toMatchObject({ status: 201, body: { name, role: 'owner' } });
  const path = `/api/v1/orgs/${made.body.slug}`;
  expect((await client.get(`${path}/members`)).body.items).toMatchObject([
    { userId: people.member.id, role: 'owner', origin: { kind: 'manual', by: people.member.id } },
  ]);
  expect((await idctl.client().post('/api/v1/orgs', { name })).status).toBe(401);
  expect((await client.send('DELETE', path)).status).toBe(204);
  await server.close();
});

test('O3 the last owner cannot be demoted or removed', async () => {
  const { owner, base, people } = await team();
  const last = { status: 409, body: { code: 'last_owner' } };
  expect(
    await owner.send('PATCH', `${base}/members/${people.owner.id}`, { body: { role: 'admin' } }),
  ).toMatchObject(last);
  expect(await owner.send('DELETE', `${base}/members/${people.owner.id}`)).toMatchObject(last);
});

test('O3 if two owners demote each other at once, one stays owner', async () => {
  const { owner, base, people } = await team();
  await owner.send('PATCH', `${base}/members/${people.admin.id}`, { body: { role: 'owner' } });
  const second = await signedIn(idctl, people.admin.email);
  const answers = await Promise.all([
    owner.send('PATCH', `${base}/members/${people.admin.id}`, { body: { role: 'member' } }),
    second.send('PATCH', `${base}/members/${people.owner.id}`, { body: { role: 'member' } }),
  ]);
  const owners = (await owner.get(`${base}/members`)).body.items.filter(
    (one: { role: string }) => one.role === 'owner',
  );
  expect(owners).toHaveLength(1);
  expect(answers.map(({ status }) => status).sort()[0]).toBe(200);
});

test('a lowered role and a removed membership take effect at the session’s next request', async () => {
  const { owner, admin, base, people } = await team();
  await owner.send('PATCH', `${base}/members/${people.admin.id}`, { body: { role: 'member' } });
  expect((await admin.get(`${base}/domains`)).status).toBe(403);
  await owner.send('DELETE', `${base}/members/${people.admin.id}`);
  expect((await admin.get(base)).status).toBe(404);
  expect((await admin.get('/api/v1/me')).body.organizations).toEqual([]);
});

test('a member is added once, whatever the case of the address; an unknown address is 404', async () => {
  const { org, admin, base } = await team();
  const domain = await verifiedDomain(idctl, org.slug);
  const stranger = await person(idctl, `ada@${domain}`);
  const email = stranger.email?.toUpperCase();
  const added = await admin.post(`${base}/members`, { email, role: 'member' });
  expect(added).toMatchObject({
    status: 201,
    body: { userId: stranger.id, role: 'member', origin: { kind: 'manual' } },
  });
  expect(await admin.post(`${base}/members`, { email, role: 'admin' })).toMatchObject({
    status: 409,
  });
  expect(
    await admin.post(`${base}/members`, { email: `nobody@${domain}`, role: 'member' }),
  ).toMatchObject({
    status: 404,
  });
});

test('the pages of a list together have each member once; invalid page parameters are refused', async () => {
  const { org, owner, base } = await team();
  for (let i = 0; i < 4; i++) {
    await addMember(idctl.operator(), {
      org: org.slug,
      email: (await person(idctl)).email ?? '',
      role: 'member',
    });
  }
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await owner.get(`${base}/members?limit=3${cursor}`);
    expect(page.body.items.length).toBeLessThanOrEqual(3);
    seen.push(...page.body.items.map((one: { userId: string }) => one.userId));
    cursor = page.body.nextCursor === null ? '' : `&cursor=${page.body.nextCursor}`;
  } while (cursor !== '');
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  for (const wrong of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'page=2']) {
    const refused = await owner.get(`${base}/members?${wrong}`);
    expect(refused, wrong).toMatchObject({
      status: 400,
      body: { errors: [{ path: wrong.split('=')[0] }] },
    });
  }
});

test('a deleted organization is 404 for its members, and their accounts stay', async () => {
  const { org, owner, member, base } = await team();
  expect((await owner.send('DELETE', base)).status).toBe(204);
  expect((await member.get(base)).status).toBe(404);
  expect((await member.get('/api/v1/me')).status).toBe(200);
  await expect(listEvents(idctl.operator(), { org: org.slug, limit: 1 })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('an organization’s events are listed oldest first, and continue from nextCursor', async () => {
  const { admin, base } = await team();
  const read = pagesOf(admin, `${base}/events?kind=*`);
  const kindsOf = (events: { kind: string }[]) => events.map(({ kind }) => kind);
  const first = await read();
  expect(kindsOf(first.items)).toEqual(['organization.created', 'member.added']);
  expect(first.hasMore).toBe(true);
  const rest = await readAll(read, first.nextCursor);
  expect(kindsOf(rest.events).slice(-2)).toEqual(['member.added', 'member.added']);
  if (dialect === 'sqlite') expect([rest.repeats, rest.more]).toEqual([0, [false]]);
  expect(await read(rest.cursor)).toEqual({ items: [], nextCursor: rest.cursor, hasMore: false });
});

test('a short name that is a path is reserved, also when it comes from the name', async () => {
  await expect(createOrganization(idctl.operator(), { name: 'API' })).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ path: 'slug' }],
  });
});

test.each([
  ['name', { name: '' }],
  ['name', { name: 'x'.repeat(201) }],
  ['name', { name: 'a\u202eb' }],
  ['name', { name: ['a'] }],
  ['name', {}],
  ['slug', { name: fresh('n'), slug: 'Not A Slug' }],
  ['slug', { name: fresh('n'), slug: '018f6b1e-8c1d-7c3a-9a3e-1d2f3a4b5c6d' }],
  ['slug', { name: fresh('n'), slug: 'api' }],
  ['owner', { name: fresh('n'), owner: 'me' }],
])('X6 X9 the refusal of wrong input names the field %s: %j', async (path, body) => {
  const { owner } = await team();
  expect(await owner.post('/api/v1/orgs', body)).toMatchObject({
    status: 400,
    body: { errors: [{ path }] },
  });
});
