import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { scimClient } from '../support/scim-client.ts';
import { team } from '../support/team.ts';
import { enrolOwn } from '../support/two-factor.ts';

// The pages of one person of an organization.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const nobody = '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
const optionsOf = ({ body }: Opened) =>
  [...String(body).matchAll(/<option value="(\w+)"( selected)?/g)].map(
    ([, role, chosen]) => `${role}${chosen ?? ''}`,
  );

describe('the page of a person', () => {
  test('X10 only admins and owners open it; a stranger and a wrong id get a page for 404', async () => {
    const { org, people, clients } = await team(idctl);
    const at = `/orgs/${org.slug}/people`;
    const paths = ['', '/sign-in', '/second-factor', '/remove'].map(
      (part) => `${at}/${people.member.id}${part}`,
    );
    const statusOf = async (client: keyof typeof clients, path: string) =>
      (await open(clients[client], path)).status;
    for (const path of paths) {
      expect([path, await statusOf('member', path)]).toEqual([path, 403]);
      expect([path, await statusOf('stranger', path)]).toEqual([path, 404]);
      const browser = idctl.client({ keepCookies: true });
      expect((await open(browser, path)).text).toContain('E-mail address or company domain');
    }
    expect((await open(clients.member, at)).body).not.toContain(`${at}/${people.member.id}`);
    expect((await open(clients.admin, at)).body).toContain(`${at}/${people.member.id}`);
    for (const key of [nobody, people.stranger.id, 'x', 'no body', '..%2F', people.stranger.email])
      for (const part of ['', '/sign-in', '/remove', '/second-factor'])
        expect([key, part, await statusOf('owner', `${at}/${key}${part}`)]).toEqual([
          key,
          part,
          404,
        ]);
  });

  test('shows role, projects and where the membership comes from', async () => {
    const { org, people, clients } = await team(idctl);
    const operator = idctl.operator();
    const { slug: project } = await createProject(operator, { org: org.slug, name: 'Website' });
    const user = people.member.email;
    await putProjectMember(operator, { org: org.slug, project, user, role: 'commenter' });
    const page = await open(clients.admin, `/orgs/${org.slug}/people/${people.member.id}`);
    for (const said of [
      'Ada Byron',
      user,
      'Added by the operator of this service',
      'website commenter',
      'Why can this person not sign in?',
    ])
      expect(page.text).toContain(said);
  });

  test('shows the first 50 projects, and says how many more there are', async () => {
    const { org, people, clients } = await team(idctl);
    const operator = idctl.operator();
    const user = people.member.email;
    for (let at = 10; at < 62; at += 1) {
      await createProject(operator, { org: org.slug, name: `Plan ${at}` });
      const project = `plan-${at}`;
      await putProjectMember(operator, { org: org.slug, project, user, role: 'viewer' });
    }
    const { text } = await open(clients.admin, `/orgs/${org.slug}/people/${people.member.id}`);
    expect(text).toContain('plan-10 viewer');
    expect(text).toContain('plan-59 viewer and 2 more');
    const path = `/api/v1/orgs/${org.slug}/members/${people.member.id}`;
    const { projects, moreProjects } = (await clients.admin.get(path)).body;
    expect([projects.length, projects[0].slug, moreProjects]).toEqual([50, 'plan-10', 2]);
  });

  test('X10 escapes the name that a person chose', async () => {
    const { org, people, clients } = await team(idctl);
    const name = '<img src=x onerror=alert(1)>"\'&';
    await clients.member.send('PATCH', '/api/v1/me', { body: { name } });
    const at = `/orgs/${org.slug}/people`;
    for (const part of ['', '/sign-in', '/second-factor', '/remove'])
      expect((await open(clients.owner, `${at}/${people.member.id}${part}`)).body).not.toContain(
        '<img src=x',
      );
    expect((await open(clients.owner, `${at}?q=onerror`)).text).toContain('onerror');
  });
});

describe('the role of a person', () => {
  test('an admin makes a member an admin, an owner also an owner; the page says so', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/${people.member.id}`;
    const page = await open(clients.admin, path);
    expect(optionsOf(page)).toEqual(['member selected', 'admin']);
    const done = await page.submit(path, { role: 'admin' });
    expect([done.status, done.text]).toEqual([
      200,
      expect.stringContaining('The role was changed.'),
    ]);
    expect(optionsOf(done)).toEqual(['member', 'admin selected']);
    const byOwner = await open(clients.owner, path);
    expect(optionsOf(byOwner)).toEqual(['member', 'admin selected', 'owner']);
    expect((await byOwner.submit(path, { role: 'owner' })).text).toContain('The role was changed.');
    expect((await open(clients.admin, path)).text).toContain('Only an owner changes the role');
  });

  test('X10 a refused change says why and what to do, keeps the choice, and changes nothing', async () => {
    const { org, people, clients } = await team(idctl);
    const own = `/orgs/${org.slug}/people/${people.owner.id}`;
    const refused = await (await open(clients.owner, own)).submit(own, { role: 'member' });
    expect([refused.status, optionsOf(refused)[0]]).toEqual([409, 'member selected']);
    expect(refused.text).toContain('would be left without an owner.');
    expect(refused.body).toContain(
      `<a href="/orgs/${org.slug}/people">Make someone else owner first</a>`,
    );
    const other = `/orgs/${org.slug}/people/${people.member.id}`;
    const page = await open(clients.admin, other);
    const above = await page.submit(other, { role: 'owner' });
    expect([above.status, above.body]).toEqual([403, expect.stringContaining('role="alert"')]);
    const wrong = await page.submit(other, { role: 'king' });
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringContaining('Role must be one of'),
    ]);
    expect(wrong.body).toMatch(
      /<select [^>]*aria-describedby="role-note refused" aria-invalid="true"/,
    );
    expect(optionsOf(await open(clients.owner, other))[0]).toBe('member selected');
    const byMember = await clients.member.form(other, { role: 'admin' });
    expect(byMember.status).toBe(403);
  });
});

describe('why a person cannot sign in', () => {
  test('says in sentences what works, what keeps them out, and no command', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/${people.member.id}`;
    const works = await open(clients.admin, `${path}/sign-in`);
    expect(works.text).toContain('Ada Byron can sign in.');
    expect(works.text).toContain('Password works');
    expect(works.text).toContain('Not available:');
    await disableUser(idctl.operator(), { user: people.member.email });
    const out = await open(clients.admin, `${path}/sign-in`);
    expect(out.text).toContain('Ada Byron cannot sign in. ');
    expect(out.text).toContain('The account is disabled. To enable it, ask the operator.');
    expect(out.text).not.toMatch(/idctl (user|member|invitation)|--|\/api\//);
  });

  test('I4 O8 says nothing of the account of a person that SCIM added at a foreign address', async () => {
    const rival = await scimClient(idctl);
    const stranger = await person(idctl);
    await rival.create({ userName: stranger.email ?? '', displayName: 'Nobody Known' });
    const owner = await signedIn(idctl, rival.org.owner.email);
    const at = `/orgs/${rival.org.slug}/people`;
    const page = await open(owner, `${at}/${stranger.id}`);
    expect(page.text).toContain('Nobody Known');
    const answer = await open(owner, `${at}/${stranger.id}/sign-in`);
    expect(answer.text).toContain('Only the operator can see this about Nobody Known.');
    for (const { text } of [page, answer]) expect(text).not.toContain('Ada Byron');
  });
});

describe('removing', () => {
  test('X10 a page asks before a person is removed; then the list says so', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/${people.member.id}`;
    const asks = await open(clients.admin, `${path}/remove`);
    expect(asks.text).toContain(`Remove ${people.member.email} from ${org.slug}?`);
    expect((await open(clients.admin, path)).status).toBe(200);
    const done = await asks.submit(`${path}/remove`);
    expect(done.text).toContain('The person was removed.');
    expect((await open(clients.admin, path)).status).toBe(404);
    expect((await open(clients.member, `/orgs/${org.slug}`)).status).toBe(404);
    const owner = `/orgs/${org.slug}/people/${people.owner.id}/remove`;
    const refused = await open(clients.admin, owner);
    expect([refused.status, refused.body]).toEqual([403, expect.not.stringContaining('<form')]);
  });

  test('O14 X10 the second factor of a person who lost it goes, after a page that asks', async () => {
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const lost = await person(idctl, `lost@${domain}`);
    await addMember(idctl.operator(), { org: org.slug, email: lost.email ?? '', role: 'member' });
    await enrolOwn(idctl, lost);
    const owner = await signedIn(idctl, org.owner.email);
    const path = `/orgs/${org.slug}/people/${lost.id}`;
    const asks = await open(owner, `${path}/second-factor`);
    expect(asks.text).toContain(`Remove the authenticator app of ${lost.email}?`);
    const done = await asks.submit(`${path}/second-factor`);
    expect(done.text).toContain('The second factor was removed.');
    const again = await open(owner, `${path}/second-factor`);
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('no second factor')]);
  });

  test('a person finds on their own page how to leave, and no removal', async () => {
    const { org, people, clients } = await team(idctl);
    const page = await open(clients.admin, `/orgs/${org.slug}/people/${people.admin.id}`);
    expect(page.text).toContain('This is you. To leave, use your account page');
    expect(page.body).not.toContain(`${people.admin.id}/remove`);
    expect(page.body).not.toContain(`${people.admin.id}/second-factor`);
  });
});
