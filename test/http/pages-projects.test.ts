import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';
import { team } from '../support/team.ts';

// The pages of projects: their names, members and roles.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const of = ({ slug }: { slug: string }) => `/orgs/${slug}/projects`;

/** A team with a project, in which the plain member has a role. */
async function working(role: 'viewer' | 'admin') {
  const all = await team(idctl);
  const key = { org: all.org.slug, project: 'website' };
  await createProject(idctl.operator(), { org: key.org, name: 'Website' });
  await putProjectMember(idctl.operator(), { ...key, user: all.people.member.email, role });
  return { ...all, key, at: `${of(all.org)}/website` };
}

describe('the list of projects', () => {
  test('X10 members see their own projects; only admins create and see all', async () => {
    const { org, clients } = await working('viewer');
    await createProject(idctl.operator(), { org: org.slug, name: 'Secret plan' });
    const own = await open(clients.member, of(org));
    expect(own.text).toContain('Website viewer website · 1 member');
    expect(own.text).not.toMatch(/Secret plan|Create a project/);
    expect((await open(clients.admin, of(org))).text).toMatch(/Website.*Secret plan.*Create a/);
    expect((await open(clients.stranger, of(org))).status).toBe(404);
    expect((await open(clients.member, `/orgs/${org.slug}`)).body).toContain(`${of(org)}/website`);
    expect((await clients.member.form(of(org), { name: 'Mine' })).status).toBe(403);
  });

  test('an admin creates a project; a refused form keeps what was typed', async () => {
    const { org, clients } = await team(idctl);
    const page = await open(clients.admin, of(org));
    expect(page.text).toContain('There is no project.');
    const wrong = await page.submit(of(org), { name: 'Website', slug: 'Web Site' });
    expect(wrong.text).toContain('Short name must be lower-case letters and digits');
    expect(wrong.body).toContain('value="Web Site"');
    const made = await wrong.submit(of(org), { name: 'Website', slug: '' });
    expect([made.status, made.text]).toEqual([
      200,
      expect.stringMatching(/Website .*The project was created\..*The project has no members\./),
    ]);
    const again = await page.submit(of(org), { name: 'Website' });
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('already exists')]);
    expect(again.text).not.toContain('--slug');
    const unnamed = await page.submit(of(org), { name: '日本' });
    expect(unnamed.text).toContain('Short name is required');
  });
});

describe('the page of a project', () => {
  test('X10 opens for the project’s members and the admins, and for no one else', async () => {
    const { at, org, people, clients } = await working('viewer');
    const rest = ['/delete', `/members/${people.member.id}/remove`];
    expect((await open(clients.member, at)).text).toContain(`${people.member.email}`);
    expect((await open(clients.member, at)).body).not.toMatch(/<form[^>]*projects|\/remove|delete/);
    for (const part of rest) expect((await open(clients.member, at + part)).status).toBe(403);
    for (const part of ['', ...rest]) {
      expect((await open(clients.stranger, at + part)).status).toBe(404);
      expect((await open(clients.admin, at + part)).status).toBe(200);
    }
    const other = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: other.email ?? '', role: 'member' });
    const outside = await signedIn(idctl, other.email);
    // A plain member does not learn whether the project exists.
    const statuses = [at, `${of(org)}/nothing`].map(
      async (path) => (await open(outside, path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([403, 403]);
    expect((await open(clients.admin, `${of(org)}/nothing`)).status).toBe(404);
  });

  test('X10 a project admin who is a plain member changes members, and not the project', async () => {
    const { at, people, clients } = await working('admin');
    const page = await open(clients.member, at);
    expect(page.text).not.toMatch(/Rename|Delete project/);
    const added = await page.submit(`${at}/members`, { user: people.admin.email, role: 'viewer' });
    expect(added.text).toContain('The person was added to the project.');
    const role = `${at}/members/${people.admin.id}`;
    const changed = await added.submit(role, { role: 'commenter' });
    expect(changed.text).toContain('The role was changed.');
    const asks = await open(clients.member, `${role}/remove`);
    expect(asks.text).toContain(`Remove ${people.admin.email} from website?`);
    const removed = await asks.submit(`${role}/remove`);
    expect(removed.text).toContain('The person was removed.');
    expect(removed.text).not.toContain(people.admin.email);
    expect((await open(clients.member, `${at}/delete`)).status).toBe(403);
    expect((await clients.member.form(`${at}/name`, { name: 'Mine' })).status).toBe(403);
    const own = `${at}/members/${people.member.id}/remove`;
    const left = await (await open(clients.member, own)).submit(own);
    expect(left.text).toContain('You are not in a project of this organization.');
  });

  test('a refused form keeps what was typed, and marks its own field only', async () => {
    const { at, people, clients } = await working('viewer');
    const page = await open(clients.admin, at);
    const unknown = await page.submit(`${at}/members`, { user: 'eve@x.test', role: 'viewer' });
    expect([unknown.status, unknown.text]).toEqual([
      404,
      expect.stringContaining('eve@x.test is not a member of'),
    ]);
    expect(unknown.body).toContain('value="eve@x.test"');
    const twice = await page.submit(`${at}/members`, { user: people.member.email, role: 'admin' });
    expect(twice.body).toContain(`<a href="${at}">`);
    const wrong = await page.submit(`${at}/members/${people.member.id}`, { role: 'king' });
    expect(wrong.text).toContain('Role must be one of');
    expect(wrong.body.match(/aria-invalid/g)).toHaveLength(1);
    expect(wrong.body).toContain('<details open>');
    const empty = await page.submit(`${at}/name`, { name: ' ' });
    expect(empty.text).toContain('Name must not be empty.');
  });

  test('an admin renames and deletes; the page says who loses what, and what still needs it', async () => {
    const { at, org, key, clients } = await working('viewer');
    const page = await open(clients.admin, at);
    const renamed = await page.submit(`${at}/name`, { name: 'Our <b>site' });
    expect(renamed.text).toContain('The project was renamed.');
    expect(renamed.body).toContain('<h1>Our &lt;b&gt;site</h1>');
    const made = await clients.owner.post(`/api/v1/orgs/${org.slug}/clients`, {
      name: 'Wiki',
      redirectUris: ['https://wiki.example.test/callback'],
      project: key.project,
    });
    expect(made.status).toBe(201);
    const refused = await open(clients.admin, `${at}/delete`);
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('These clients accept only members of website: Wiki.'),
    ]);
    expect(refused.body).not.toContain('<form method="post" action="/orgs');
    await createProject(idctl.operator(), { org: org.slug, name: 'Old' });
    const asks = await open(clients.admin, `${of(org)}/old/delete`);
    expect(asks.text).toContain('Delete Old (0 members)?');
    const gone = await asks.submit(`${of(org)}/old/delete`);
    expect(gone.text).toContain('The project was deleted.');
    expect((await open(clients.admin, `${of(org)}/old`)).status).toBe(404);
  });

  test('a role from a group: only the organization’s admins change it', async () => {
    const { at, org, key, clients } = await working('admin');
    const operator = idctl.operator();
    const domain = await verifiedDomain(idctl, org.slug);
    const { token } = await rotateScimToken(operator, { org: org.slug });
    const scim = clientOf(idctl, org, token);
    await addMapping(operator, { ...key, group: 'Web', role: 'member' });
    const { id: value } = await scim.create({ userName: `web@${domain}` });
    await scim.send('POST', '/Groups', { displayName: 'Web', members: [{ value }] });
    const byMember = await open(clients.member, at);
    expect(byMember.text).toContain(`web@${domain} The role comes from the group Web.`);
    const { items } = (await clients.admin.get(`/api/v1${at}/members`)).body;
    const { userId } = items.find(({ email }: { email: string }) => email === `web@${domain}`);
    expect(byMember.body).not.toContain(`${at}/members/${userId}`);
    const page = await open(clients.admin, at);
    expect(page.text).toContain('Group sync then leaves the role alone.');
    const asks = await open(clients.admin, `${at}/members/${userId}/remove`);
    expect(asks.text).toContain('Group sync adds them again at the next sign-in.');
    const changed = await page.submit(`${at}/members/${userId}`, { role: 'viewer' });
    expect(changed.text).not.toContain('The role comes from');
  });

  test('shows 25 members on a page', async () => {
    const { at, key, clients } = await working('viewer');
    for (let count = 0; count < 25; count += 1) {
      const { email } = await person(idctl);
      await addMember(idctl.operator(), { org: key.org, email: email ?? '', role: 'member' });
      await putProjectMember(idctl.operator(), { ...key, user: email ?? '', role: 'viewer' });
    }
    const first = await open(clients.admin, at);
    const next = /href="([^"]*)" rel="next"/.exec(first.body)?.[1] ?? '';
    const second = await open(clients.admin, next.replaceAll('&amp;', '&'));
    const removals = (body: string) => body.match(/\/remove"/g)?.length;
    expect([removals(first.body), removals(second.body)]).toEqual([25, 1]);
    expect(first.body.length).toBeLessThan(60 * 1024);
  });
});
