import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../../src/database/models/account.ts';
import { Membership } from '../../../src/database/models/membership.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { createUser } from '../../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../../src/services/tenancy/projects/operations.ts';
import { fresh, password, person } from '../../support/builders.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { application, browserOf, walk, walkToDenial } from '../../support/relying-party.ts';
import { clientOf } from '../../support/scim-client.ts';

// The page for a person who may not use an application.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** An application that needs a role in a project, and a member who does not have the role. */
async function closed(more: { homeUrl?: string } = {}) {
  const app = await application(idctl, more);
  const { slug: org } = app.org;
  for (const [name, role] of [
    ['Olga Owner', 'owner'],
    ['Adam Admin', 'admin'],
    ['Mia Member', 'member'],
  ] as const) {
    const email = `${fresh('person')}@example.test`;
    await createUser(idctl.operator(), { email, name, password });
    await addMember(idctl.operator(), { org, email, role });
  }
  const { id } = await createProject(idctl.operator(), { org, name: 'Web' });
  await transaction(() => app.row.update({ projectId: id, role: 'viewer' }));
  return { ...app, browser: await browserOf(idctl, app.email) };
}

test('O10 a member without access sees the application, the account and who can give access', async () => {
  const { begin, browser, email, org } = await closed({ homeUrl: 'https://app.example.test/' });
  const { page, back } = await walkToDenial(browser, (await begin()).path);
  expect(page.status).toBe(403);
  expect(page.body).toContain('<h1>You do not have access to Grafana</h1>');
  expect(page.body).toContain(`You are signed in as <strong>${email}</strong>.`);
  const helpers = 'Ada Byron, Olga Owner, Adam Admin';
  expect(page.body).toContain(`ask an owner or admin of ${org.name}: ${helpers}.`);
  expect(page.body).not.toContain('Mia');
  // The home page comes first: some applications loop when they get the error.
  const [, main = ''] = String(page.body).split('<main>');
  const [home, away, other] = [...main.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  expect(home).toBe('https://app.example.test/');
  expect(away).toContain('error=access_denied');
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'state',
    iss: idctl.baseUrl,
  });
  const again = await browser.get(String(other).replaceAll('&amp;', '&'));
  expect(again.headers['location']).toMatch(/^\/login\?returnTo=/);
});

test('I4 a member without access sees an owner that SCIM added under the name from SCIM', async () => {
  const { begin, browser, org } = await closed();
  const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
  const earlier = await person(idctl);
  const name = { givenName: 'Pushed', familyName: 'Name' };
  const pushed = await clientOf(idctl, org, token).create({ userName: earlier.email, name });
  expect(pushed['id']).toEqual(expect.any(String));
  await transaction(() =>
    Membership.update({ role: 'owner' }, { where: { accountId: earlier.id } }),
  );
  await transaction(() => Account.update({ name: 'Hidden Name' }, { where: { id: earlier.id } }));
  const { page } = await walkToDenial(browser, (await begin()).path);
  expect(page.body).toContain('Pushed Name');
  expect(page.body).not.toContain('Hidden Name');
});

test('without a home page, the button goes back to the application with the error', async () => {
  const { begin, browser } = await closed();
  const { page } = await walkToDenial(browser, (await begin()).path);
  expect(page.body).toMatch(
    /<a class="button" href="https:\/\/app.example.test\/callback\?error=access_denied[^"]*">Back to Grafana</,
  );
});

test('with form_post, a form sends the error to the application', async () => {
  const { begin, browser } = await closed();
  const { path } = await begin({ response_mode: 'form_post' });
  const page = await browser.get(path);
  expect(page.status).toBe(403);
  expect(page.body).toContain('<form method="post" action="https://app.example.test/callback">');
  expect(page.body).toContain('<input type="hidden" name="error" value="access_denied">');
  expect(page.headers['content-security-policy']).toContain(
    "form-action 'self' https://app.example.test",
  );
});

test('with prompt=none, the error goes back without a page', async () => {
  const { begin, browser } = await closed();
  const back = new URL(await walk(browser, (await begin({ prompt: 'none' })).path));
  expect(back.searchParams.get('error')).toBe('access_denied');
});
