import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import { openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { peopled } from '../support/peopled.ts';
import { team } from '../support/team.ts';

// Tests the pages of an organization, and pages that ask before something ends.

let idctl: Awaited<ReturnType<typeof openIdctl>>;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** An organization with a member who is signed in. */
async function joined() {
  const org = await organization(idctl);
  const ada = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: ada.email ?? '', role: 'member' });
  return { org, ada, client: await signedIn(idctl, ada.email) };
}

test('§5.4 a member sees the people of the organization, in pages of fifty, and goes back', async () => {
  const names = Array.from({ length: 110 }, (_, at) => `Person ${at}`);
  const { org } = await peopled(idctl, names);
  const ada = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: ada.email ?? '', role: 'member' });
  const client = await signedIn(idctl, ada.email);
  const namesOn = ({ body }: Opened) =>
    [...String(body).matchAll(/<strong>([^<]*)</g)].map(([, name]) => name);
  const linkOn = ({ body }: Opened, rel: string) =>
    new RegExp(`href="([^"]*)" rel="${rel}"`).exec(String(body))?.[1]?.replaceAll('&amp;', '&');
  const first = await open(client, `/orgs/${org.slug}/people?q=person&role=member`);
  expect([first.status, namesOn(first), linkOn(first, 'prev')]).toEqual([
    200,
    names.slice(0, 50),
    undefined,
  ]);
  const second = await open(client, linkOn(first, 'next') ?? '');
  const third = await open(client, linkOn(second, 'next') ?? '');
  expect([namesOn(second), namesOn(third)]).toEqual([names.slice(50, 100), names.slice(100)]);
  expect(linkOn(third, 'next')).toBeUndefined();
  const back = await open(client, linkOn(third, 'prev') ?? '');
  expect([namesOn(back), linkOn(back, 'next')]).toEqual([namesOn(second), linkOn(second, 'next')]);
  expect(namesOn(await open(client, linkOn(back, 'prev') ?? ''))).toEqual(namesOn(first));
});

test('X10 the search keeps what was typed, finds nothing of other people, and escapes', async () => {
  const { org, people, clients } = await team(idctl);
  const path = `/orgs/${org.slug}/people`;
  const found = await open(clients.member, `${path}?q=${people.admin.email.toUpperCase()}`);
  expect(found.text).toContain(people.admin.email);
  expect(found.text).not.toContain(people.owner.email);
  const none = await open(clients.member, `${path}?q=${encodeURIComponent('"><b>&role=owner')}`);
  expect(none.text).toContain('No one was found.');
  expect(none.body).toContain('value="&quot;&gt;&lt;b&gt;&amp;role=owner"');
  expect(none.body).not.toContain('<b>');
  const owners = await open(clients.member, `${path}?role=owner`);
  expect(owners.text).toContain(people.owner.email);
  expect(owners.body).toContain('<option value="owner" selected>');
  for (const wrong of ['role=king', 'cursor=x', 'before=x'])
    expect((await open(clients.member, `${path}?${wrong}`)).status).toBe(400);
});

test('admins see where a membership comes from; members do not', async () => {
  const { org, clients } = await team(idctl);
  const path = `/orgs/${org.slug}/people`;
  const words = 'Added by the operator of this service';
  expect((await open(clients.admin, path)).text).toContain(words);
  expect((await open(clients.member, path)).text).not.toContain(words);
});

test('X1 X10 the page of an organization answers a stranger as if there were none', async () => {
  const { org } = await joined();
  const stranger = await signedIn(idctl, (await person(idctl)).email);
  const [hidden, missing] = [
    await open(stranger, `/orgs/${org.slug}/people`),
    await open(stranger, '/orgs/no-such-organization/people'),
  ];
  expect([hidden.status, missing.status]).toEqual([404, 404]);
  expect(hidden.text).toContain('Page not found');
});

test('X10 a person who signs in returns to the page of the organization', async () => {
  const { org, ada } = await joined();
  const browser = idctl.client({ keepCookies: true });
  const asked = await open(browser, `/orgs/${org.slug}/people`);
  expect(asked.text).toContain('E-mail address or company domain');
  const named = await open(
    browser,
    `/login?${new URLSearchParams({ identifier: ada.email ?? '', returnTo: `/orgs/${org.slug}/people` })}`,
  );
  const arrived = await named.submit('/login/password', { password });
  expect(arrived.text).toContain(`People of ${org.slug}`);
  expect(arrived.text).toContain(ada.email);
});

test('X10 a form of an account is sent again after the session is renewed, and only a form', async () => {
  const { client } = await joined();
  const renewal = (returnTo: string) =>
    client.send('POST', `/api/v1/auth/resume?${new URLSearchParams({ returnTo })}`, {
      body: '',
      headers: { origin: idctl.baseUrl, 'content-type': 'application/x-www-form-urlencoded' },
    });
  for (const path of [
    '/orgs/acme/people?again=1',
    '/account/nothing?again=1',
    '//evil.test?again=1',
    '/orgs/../sign-in/domains/acme.example/verify?again=1',
    '/orgs/acme/sign-in/domains/../verify?again=1',
  ])
    expect([path, (await renewal(path)).status]).toEqual([path, 400]);
  for (const path of ['/account/profile', '/orgs/acme/sign-in/domains/acme.example/verify'])
    expect([path, (await renewal(`${path}?again=1`)).status]).toEqual([path, 307]);
});

test('X10 before a token is revoked, a page says what ends, and opening it changes nothing', async () => {
  const { ada, client } = await joined();
  const { id } = await createToken(idctl.operator(), { user: ada.id, name: 'backups' });
  const asked = await open(client, `/account/tokens/revoke?id=${id}`);
  expect(asked.text).toContain('Revoke the token backups');
  expect(asked.text).toContain('Programs that use it stop working.');
  expect((await client.get('/api/v1/me/tokens')).body.items).toHaveLength(1);
  const done = await asked.submit('/account/tokens/revoke');
  expect(done.text).toContain('The token was revoked.');
  const again = await open(client, `/account/tokens/revoke?id=${id}`);
  expect([again.status, again.text]).toEqual([404, expect.stringContaining('There is no token')]);
});

test('X10 a person who must sign in again returns to the same question', async () => {
  const browser = idctl.client();
  const path = '/account/tokens/revoke?id=0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
  const again = await browser.get(`${path}&again=1`, { accept: 'text/html' });
  expect([again.status, again.headers['location']]).toEqual([
    303,
    `/login?${new URLSearchParams({ returnTo: path })}`,
  ]);
});

test('X6 X10 a key of a path with NUL is refused, and one with a backslash leads to no other host', async () => {
  const { client } = await joined();
  expect((await client.get('/orgs/%00/people', { accept: 'text/html' })).status).toBe(400);
  const own = await client.get('/orgs/%5C%5Cevil.test/people?again=1', { accept: 'text/html' });
  expect(own.headers['location']).toBe('/orgs/%5C%5Cevil.test/people');
});
