import { afterAll, beforeAll, expect, test } from 'vitest';
import { Membership } from '../../src/database/models/membership.ts';
import { Project, type ProjectRole } from '../../src/database/models/project.ts';
import { ProjectMembership } from '../../src/database/models/project-membership.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { outranks, projectRoles } from '../../src/services/foundation/project-roles.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** Adds a new person to the organization and signs them in. */
async function hired(org: string, role: 'member' | 'admin' = 'member') {
  const { id, email } = await person(idctl);
  await addMember(idctl.operator(), { org, email: email ?? '', role });
  return { ...(await signedIn(idctl, email)), id, email: email ?? '' };
}

/** Creates an organization with an admin and a project. */
async function withProject() {
  const org = await organization(idctl);
  const project = await createProject(idctl.operator(), { org: org.slug, name: fresh('web') });
  const projects = `/api/v1/orgs/${org.slug}/projects`;
  return {
    org,
    project,
    projects,
    at: `${projects}/${project.slug}`,
    admin: await hired(org.slug, 'admin'),
    /** Adds a new member of the organization to the project with this role. */
    inProject: async (role: ProjectRole) => {
      const somebody = await hired(org.slug);
      await putProjectMember(idctl.operator(), {
        org: org.slug,
        project: project.id,
        user: somebody.id,
        role,
      });
      return somebody;
    },
    /** Adds a new member of the organization to the project as group sync does. */
    synced: async (role: ProjectRole) => {
      const somebody = await hired(org.slug);
      const origin = { kind: 'mapping' as const, by: org.id, group: 'Web', mappingId: org.id };
      await transaction(() =>
        ProjectMembership.create({
          projectId: project.id,
          accountId: somebody.id,
          role,
          synced: true,
          origin,
          joinedAt: new Date(),
        }),
      );
      return { ...somebody, origin };
    },
  };
}

const rowsOf = (accountId: string) =>
  ProjectMembership.findAll({ where: { accountId }, raw: true });

test('§2.3 the roles from lowest to highest are viewer, commenter, member and admin, each with its rights', () => {
  const ranked = projectRoles.map(({ role }) => role);
  expect(ranked).toEqual(['viewer', 'commenter', 'member', 'admin']);
  for (const [at, role] of ranked.entries()) {
    expect(ranked.filter((other) => outranks(role, other))).toEqual(ranked.slice(0, at));
  }
  expect(projectRoles.map(({ grants }) => grants)).toEqual([
    'Read-only access.',
    'Can comment, cannot change project structure.',
    'Works inside the project: tasks and the board.',
    'Full control over the project.',
  ]);
});

test('§2.3 the API document describes the rights of each role', async () => {
  const document = JSON.stringify((await idctl.client().get('/api/v1/openapi.json')).body);
  for (const { role, grants } of projectRoles) expect(document).toContain(`${role}: ${grants}`);
});

test('an admin creates a project, names it by id or slug, renames and deletes it', async () => {
  const { admin, projects } = await withProject();
  const made = await admin.post(projects, { name: 'Über Site' });
  expect(made).toMatchObject({
    status: 201,
    body: { slug: 'uber-site', name: 'Über Site', members: 0 },
  });
  const rename = (ref: string, name: string) =>
    admin.send('PATCH', `${projects}/${ref}`, { body: { name } });
  expect((await rename('uber-site', 'Site')).body).toEqual({ ...made.body, name: 'Site' });
  expect((await rename(made.body.id.toUpperCase(), 'Again')).body).toMatchObject({
    slug: 'uber-site',
  });
  expect((await admin.send('DELETE', `${projects}/uber-site`)).status).toBe(204);
  expect(await rename('uber-site', 'Gone')).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
});

test.each(['api', 'admin', 'me'])(
  'a project may be called %s, which is reserved for organizations only',
  async (slug) => {
    const { admin, projects } = await withProject();
    expect(await admin.post(projects, { name: slug })).toMatchObject({
      status: 201,
      body: { slug },
    });
    expect((await admin.get(`${projects}/${slug}`)).status).toBe(405);
    expect(
      (await admin.send('PATCH', `${projects}/${slug}`, { body: { name: 'New' } })).body,
    ).toMatchObject({ slug, name: 'New' });
  },
);

test('a slug is unique in its organization, and free in another', async () => {
  const [one, other] = [await withProject(), await withProject()];
  const { slug } = one.project;
  const again = await one.admin.post(one.projects, { name: 'Other', slug });
  expect(again).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  expect((await other.admin.post(other.projects, { name: 'Other', slug })).status).toBe(201);
});

test.each([
  { name: '' },
  { name: 'a\u202eb' },
  { name: 'x', slug: 'Not A Slug' },
  { name: 'x', owner: 'me' },
])('X6 X9 the input %j for a project is refused', async (body) => {
  const { admin, projects } = await withProject();
  expect((await admin.post(projects, body)).status).toBe(400);
});

test('O7 a project of another organization is not found, even by its id', async () => {
  const [own, other] = [await withProject(), await withProject()];
  for (const path of [`${own.projects}/${other.project.id}`, other.at]) {
    expect((await own.admin.send('PATCH', path, { body: { name: 'Mine' } })).status).toBe(404);
    expect((await own.admin.send('DELETE', path)).status).toBe(404);
    expect((await own.admin.get(`${path}/members`)).status).toBe(404);
    const put = await own.admin.send('PUT', `${path}/members/${own.admin.id}`, {
      body: { role: 'admin' },
    });
    expect(put.status).toBe(404);
  }
  expect(await rowsOf(own.admin.id)).toEqual([]);
});

test('members see the projects they belong to, with their role; admins see all projects', async () => {
  const { org, project, projects, admin, inProject } = await withProject();
  const viewer = await inProject('viewer');
  const other = await createProject(idctl.operator(), { org: org.slug, name: fresh('other') });
  expect((await viewer.get(projects)).body.items).toEqual([
    { ...project, role: 'viewer', members: 1 },
  ]);
  expect((await admin.get(projects)).body.items).toEqual([{ ...project, members: 1 }, other]);
  await putProjectMember(idctl.operator(), {
    org: org.slug,
    project: other.id,
    user: admin.id,
    role: 'admin',
  });
  expect((await admin.get(projects)).body.items[1]).toEqual({
    ...other,
    role: 'admin',
    members: 1,
  });
});

test('the pages of a list of projects or members together have each entry once', async () => {
  const { org, projects, at, admin, inProject } = await withProject();
  for (const _ of [1, 2]) {
    await createProject(idctl.operator(), { org: org.slug, name: fresh('more') });
    await inProject('member');
  }
  for (const [path, key, count] of [
    [projects, 'id', 3],
    [`${at}/members`, 'userId', 2],
  ] as const) {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await admin.get(`${path}?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map((item: Record<string, string>) => item[key]));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(seen.toSorted());
    expect(new Set(seen).size).toBe(count);
  }
});

test('a member outside the project gets the same answer whether the project exists or not', async () => {
  const { org, at, projects } = await withProject();
  const outsider = await hired(org.slug);
  const answers = await Promise.all(
    [at, `${projects}/no-such-project`].map((path) => outsider.get(`${path}/members`)),
  );
  const told = answers.map(({ status, body }) => ({ status, detail: body.detail }));
  expect(told[0]).toEqual({
    status: 403,
    detail: expect.stringContaining('viewer in the project'),
  });
  expect(told[1]).toEqual(told[0]);
});

test('§2.3 members of a project see its members; only its admins and the organization’s admins change them', async () => {
  const { org, at, inProject } = await withProject();
  const newcomer = await hired(org.slug);
  const put = (who: Awaited<ReturnType<typeof hired>>, role: string) =>
    who.send('PUT', `${at}/members/${newcomer.id}`, { body: { role } });
  for (const role of ['viewer', 'commenter', 'member'] as const) {
    const somebody = await inProject(role);
    expect((await somebody.get(`${at}/members`)).status).toBe(200);
    expect(await put(somebody, 'viewer')).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect((await somebody.send('DELETE', `${at}/members/${somebody.id}`)).status).toBe(403);
  }
  const lead = await inProject('admin');
  expect(await put(lead, 'viewer')).toMatchObject({
    status: 200,
    body: {
      userId: newcomer.id,
      email: newcomer.email,
      role: 'viewer',
      synced: false,
      origin: { kind: 'manual', by: lead.id },
    },
  });
  expect((await put(lead, 'admin')).body).toMatchObject({ role: 'admin', origin: { by: lead.id } });
  expect((await lead.send('DELETE', `${at}/members/${newcomer.id}`)).status).toBe(204);
  expect(await rowsOf(newcomer.id)).toEqual([]);
  expect((await lead.send('DELETE', `${at}/members/${newcomer.id}`)).status).toBe(404);
});

test('only members of the organization can be added to its projects', async () => {
  const { at, admin, inProject } = await withProject();
  const lead = await inProject('admin');
  const stranger = await person(idctl);
  for (const who of [admin, lead]) {
    const put = await who.send('PUT', `${at}/members/${stranger.id}`, { body: { role: 'viewer' } });
    expect(put).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
  expect(await rowsOf(stranger.id)).toEqual([]);
});

test.each(['owner', 'Admin', '', null])('a project refuses the role %j', async (role) => {
  const { at, admin } = await withProject();
  const put = await admin.send('PUT', `${at}/members/${admin.id}`, { body: { role } });
  expect(put).toMatchObject({ status: 400, body: { errors: [{ path: 'role' }] } });
});

test('§2.3 a synced membership is marked as synced, and names its group and mapping', async () => {
  const { at, admin, synced } = await withProject();
  const { id, origin } = await synced('member');
  const [member] = (await admin.get(`${at}/members`)).body.items;
  expect(member).toMatchObject({ userId: id, role: 'member', synced: true, origin });
});

test('§3.3 changing a synced membership makes it manual, even with the same role', async () => {
  const { at, admin, synced } = await withProject();
  for (const role of ['member', 'admin'] as const) {
    const { id } = await synced('member');
    const put = await admin.send('PUT', `${at}/members/${id}`, { body: { role } });
    expect(put.body).toMatchObject({
      role,
      synced: false,
      origin: { kind: 'manual', by: admin.id },
    });
    expect(put.body.origin).not.toHaveProperty('group');
    expect(await rowsOf(id)).toMatchObject([{ role }]);
  }
});

test('only the organization’s admins can edit or remove a synced membership', async () => {
  const { at, admin, inProject, synced } = await withProject();
  const lead = await inProject('admin');
  const { id } = await synced('member');
  const before = await rowsOf(id);
  expect((await lead.send('PUT', `${at}/members/${id}`, { body: { role: 'viewer' } })).status).toBe(
    403,
  );
  expect((await lead.send('DELETE', `${at}/members/${id}`)).status).toBe(403);
  expect(await rowsOf(id)).toEqual(before);
  expect((await admin.send('DELETE', `${at}/members/${id}`)).status).toBe(204);
  expect(await rowsOf(id)).toEqual([]);
});

test('a lowered role and a removal from a project take effect at the session’s next request', async () => {
  const { at, admin, inProject } = await withProject();
  const lead = await inProject('admin');
  expect((await lead.get(`${at}/members`)).status).toBe(200);
  await admin.send('PUT', `${at}/members/${lead.id}`, { body: { role: 'viewer' } });
  expect(
    (await lead.send('PUT', `${at}/members/${lead.id}`, { body: { role: 'admin' } })).status,
  ).toBe(403);
  await admin.send('DELETE', `${at}/members/${lead.id}`);
  expect((await lead.get(`${at}/members`)).status).toBe(403);
});

test('I5 a person removed from an organization is removed from its projects, and from no others', async () => {
  const { org, at, admin, inProject } = await withProject();
  const other = await withProject();
  const somebody = await inProject('admin');
  await addMember(idctl.operator(), { org: other.org.slug, email: somebody.email, role: 'member' });
  const elsewhere = { org: other.org.slug, project: other.project.slug, user: somebody.id };
  await putProjectMember(idctl.operator(), { ...elsewhere, role: 'viewer' });
  await admin.send('DELETE', `/api/v1/orgs/${org.slug}/members/${somebody.id}`);
  expect(await rowsOf(somebody.id)).toMatchObject([{ projectId: other.project.id }]);
  await addMember(idctl.operator(), { org: org.slug, email: somebody.email, role: 'member' });
  expect((await somebody.get(`${at}/members`)).status).toBe(403);
});

test('I5 a person added to a project while being removed from the organization is in neither', async () => {
  const { org, project } = await withProject();
  for (let round = 0; round < 10; round += 1) {
    const { id: user } = await hired(org.slug);
    const [at, operator] = [{ org: org.slug, user }, idctl.operator()];
    const putting = putProjectMember(operator, { ...at, project: project.slug, role: 'member' });
    await Promise.allSettled([putting, removeMember(operator, at)]);
    expect(await Membership.findOne({ where: { accountId: user } })).toBeNull();
    expect(await rowsOf(user)).toEqual([]);
  }
});

test('concurrent requests that add one person to a project leave one membership', async () => {
  const { org, project } = await withProject();
  const { id: user } = await hired(org.slug);
  const put = (role: ProjectRole) =>
    putProjectMember(idctl.operator(), { org: org.slug, project: project.slug, user, role });
  const asked: ProjectRole[] = ['viewer', 'admin', 'member', 'viewer'];
  const views = await Promise.all(asked.map(put));
  expect(views).toHaveLength(4);
  expect(await rowsOf(user)).toHaveLength(1);
});

test('deleting a project, an account or an organization deletes its project memberships', async () => {
  const { org, at, admin, project, inProject } = await withProject();
  const [one, two] = [await inProject('viewer'), await inProject('member')];
  await deleteUser(idctl.operator(), { user: one.id });
  expect(await rowsOf(one.id)).toEqual([]);
  await admin.send('DELETE', at);
  expect(await rowsOf(two.id)).toEqual([]);
  const again = await createProject(idctl.operator(), {
    org: org.slug,
    name: 'Again',
    slug: project.slug,
  });
  await putProjectMember(idctl.operator(), {
    org: org.slug,
    project: again.slug,
    user: two.id,
    role: 'viewer',
  });
  const owner = await signedIn(idctl, org.owner.email);
  expect((await owner.send('DELETE', `/api/v1/orgs/${org.slug}`)).status).toBe(204);
  expect(await Project.findAll({ where: { organizationId: org.id } })).toEqual([]);
  expect(await rowsOf(two.id)).toEqual([]);
});

test('GET /me lists the person’s projects in each organization, with role and synced', async () => {
  const { org, project, synced } = await withProject();
  const somebody = await synced('commenter');
  const other = await organization(idctl);
  await addMember(idctl.operator(), { org: other.slug, email: somebody.email, role: 'member' });
  const { organizations } = (await somebody.get('/api/v1/me')).body;
  const mine = { id: project.id, slug: project.slug, role: 'commenter', synced: true };
  expect(organizations).toMatchObject([
    { id: org.id, projects: [mine] },
    { id: other.id, projects: [] },
  ]);
});

test('X5 every change of a project or its members records an event; a request that changes nothing records none', async () => {
  const { org, at, admin, project } = await withProject();
  const { id, email } = await hired(org.slug);
  const put = (role: string) => admin.send('PUT', `${at}/members/${email}`, { body: { role } });
  for (const role of ['viewer', 'viewer', 'admin']) await put(role);
  await admin.send('DELETE', `${at}/members/${id}`);
  await admin.send('PATCH', at, { body: { name: 'Site' } });
  await admin.send('DELETE', at);
  const { items } = await listEvents(idctl.operator(), { org: org.slug, limit: 200 });
  const told = items.filter(({ kind }) => kind.startsWith('project.'));
  const named = { project: project.slug };
  expect(told.map(({ kind, data }) => [kind, data])).toEqual([
    ['project.created', {}],
    ['project.member.added', { ...named, role: 'viewer', origin: 'manual' }],
    ['project.member.role.changed', { ...named, from: 'viewer', to: 'admin' }],
    ['project.member.removed', { ...named, role: 'admin' }],
    ['project.renamed', { from: project.name }],
    ['project.deleted', { members: 0 }],
  ]);
  expect(told[1]).toMatchObject({ actor: { id: admin.id }, subject: { type: 'user', id } });
});
