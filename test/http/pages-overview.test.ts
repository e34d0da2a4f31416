import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { ScimToken } from '../../src/database/models/scim-token.ts';
import { SsoAttempt } from '../../src/database/models/sso-attempt.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { renameOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';
import { registration } from '../support/sso.ts';
import { team } from '../support/team.ts';

// The start page of an organization, and the navigation on every page of a signed-in person.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const linksOf = ({ body }: Opened): string[] => {
  const [nav = ''] = /<nav class="parts".*?<\/nav>/s.exec(String(body)) ?? [];
  return [...nav.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
};

/** The entry of the checklist with this name, as text. */
const entryOf = ({ body }: Opened, name: string) =>
  String(body)
    .split('<li>')
    .find((entry) => entry.includes(`<strong>${name}</strong>`))
    ?.replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ') ?? '';

describe('the navigation', () => {
  test.each(['member', 'admin', 'owner'] as const)(
    'X10 every page that the navigation shows to a %s opens for them',
    async (role) => {
      const { org, clients } = await team(idctl);
      const client = clients[role];
      const page = await open(client, `/orgs/${org.slug}`);
      expect(linksOf(page).slice(0, 4)).toEqual([
        '/',
        `/orgs/${org.slug}`,
        `/orgs/${org.slug}`,
        `/orgs/${org.slug}/people`,
      ]);
      for (const href of linksOf(page)) {
        const opened = await open(client, href);
        expect([href, opened.status, linksOf(opened)[0]]).toEqual([href, 200, '/']);
      }
    },
  );

  test('is on the account page and on pages that ask, and marks the page that is open', async () => {
    const { org, clients } = await team(idctl);
    const account = await open(clients.member, '/');
    expect(linksOf(account)).toEqual(['/', `/orgs/${org.slug}`]);
    expect(account.body).toContain('<a href="/" aria-current="page">');
    const asks = await open(clients.member, `/account/organizations/leave?org=${org.slug}`);
    expect(linksOf(asks)).toEqual(['/', `/orgs/${org.slug}`]);
    const people = await open(clients.member, `/orgs/${org.id}/people`);
    expect(people.body).toContain(`<a href="/orgs/${org.slug}" aria-current="true">`);
    expect(people.body).toContain(`<a href="/orgs/${org.slug}/people" aria-current="page">`);
  });

  test('a person without an organization gets none', async () => {
    const alone = await signedIn(idctl, (await person(idctl)).email);
    expect(linksOf(await open(alone, '/'))).toEqual([]);
  });

  test('X10 the navigation escapes the names of organizations', async () => {
    const { org, clients } = await team(idctl);
    const name = '<img src=x onerror=alert(1)>"\'';
    await renameOrganization(idctl.operator(), { org: org.slug, name });
    for (const path of ['/', `/orgs/${org.slug}`, `/orgs/${org.slug}/people`])
      expect((await open(clients.admin, path)).body).not.toContain('<img src=x');
  });
});

describe('the start page of an organization', () => {
  test('X10 X1 only its members see it', async () => {
    const { org, clients } = await team(idctl);
    const { status, text } = await open(clients.stranger, `/orgs/${org.slug}`);
    expect([status, text]).toEqual([404, expect.stringContaining('Page not found')]);
    const browser = idctl.client({ keepCookies: true });
    expect((await open(browser, `/orgs/${org.slug}`)).text).toContain('E-mail address or company');
  });

  test('shows a member their role and projects, and no list of steps', async () => {
    const { org, people, clients } = await team(idctl);
    const operator = idctl.operator();
    const { slug: project } = await createProject(operator, { org: org.slug, name: 'Website' });
    const at = { org: org.slug, project };
    await putProjectMember(operator, { ...at, user: people.member.email, role: 'commenter' });
    const { text } = await open(clients.member, `/orgs/${org.slug}`);
    expect(text).toContain('You are a member of');
    expect(text).toContain('website commenter');
    expect(text).not.toContain('Set up');
    const admin = await open(clients.admin, `/orgs/${org.slug}`);
    expect(admin.text).toContain('You are not in a project of this organization.');
  });

  test('tells an admin the state and the next step of each part', async () => {
    const { org, clients } = await team(idctl);
    const operator = idctl.operator();
    const at = { org: org.slug };
    const entry = async (name: string, by: 'admin' | 'owner' = 'admin') =>
      entryOf(await open(clients[by], `/orgs/${org.slug}`), name);

    const domain = 'Your e-mail domain';
    expect(await entry(domain)).toContain(
      'to do No domain has been added. You then get a TXT record',
    );
    const pending = await addDomain(operator, { ...at, domain: `${org.slug}.test` });
    expect(await entry(domain)).toContain(pending.txtRecord.value);
    await assertDomain(operator, { ...at, domain: `${org.slug}.test` });
    expect(await entry(domain)).toContain(`done Verified: ${org.slug}.test.`);

    const company = 'Sign-in through your company';
    expect(await entry(company)).toContain('to do No provider and no directory is connected.');
    const path = `/api/v1/orgs/${org.slug}/sso`;
    const body = { emailDomain: `${org.slug}.test`, issuer: 'https://id.test', ...registration };
    expect((await clients.owner.send('PUT', path, { body })).status).toBe(200);
    expect(await entry(company)).toContain('to do Single sign-on is switched off.');
    expect((await clients.owner.post(`${path}/enable`)).status).toBe(200);
    expect(await entry(company)).toContain('No one has signed in with it yet.');
    await attempt(org.id);
    expect(await entry(company)).toContain('done Single sign-on is on.');
    const change = { issuer: 'https://other.test', clientSecret: 's' };
    expect((await clients.admin.send('PATCH', path, { body: change })).status).toBe(200);
    expect(await entry(company)).toContain('Ask an owner to approve it on the account page.');
    expect(await entry(company, 'owner')).toContain('no owner has approved it. Look at it');

    const directory = 'Accounts from your directory (SCIM)';
    expect(await entry(directory)).toContain('to do Not connected.');
    const { token } = await rotateScimToken(operator, at);
    expect(await entry(directory)).toContain('your directory has not used it yet');
    await transaction(() =>
      ScimToken.update({ lastUsedAt: new Date() }, { where: { organizationId: org.id } }),
    );
    const scim = clientOf(idctl, org, token);
    expect((await scim.get('/Users')).status).toBe(200);
    expect(await entry(directory)).toContain(
      'to do Your directory has connected, but has not sent a person or a group yet.',
    );
    await scim.send('POST', '/Groups', { displayName: 'Web' });
    expect(await entry(directory)).toContain('done Your directory adds and removes people.');

    expect(await entry('People')).toContain('done');
    expect(await entry('A second owner')).toContain('to do There is one owner.');
    const second = await person(idctl);
    await addMember(operator, { ...at, email: second.email ?? '', role: 'owner' });
    expect(await entry('A second owner')).toContain('done');
  });

  test('tells the only member that they are alone', async () => {
    const org = await organization(idctl);
    const owner = await signedIn(idctl, org.owner.email);
    const page = await open(owner, `/orgs/${org.slug}`);
    expect(entryOf(page, 'People')).toContain('to do You are the only member.');
  });
});

/** Stores a sign-in through the organization's provider. */
async function attempt(organizationId: string) {
  const connection = await SsoConnection.findOne({
    where: { organizationId },
    rejectOnEmpty: true,
  });
  await transaction(() =>
    SsoAttempt.create({
      id: orderedId(),
      connectionId: connection.id,
      at: new Date(),
      stage: 'session',
      ok: true,
      groupsMalformed: false,
    }),
  );
}
