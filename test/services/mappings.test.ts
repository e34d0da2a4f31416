import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { GroupMapping } from '../../src/database/models/group-mapping.ts';
import { Project } from '../../src/database/models/project.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { changeMapping } from '../../src/services/provisioning/mappings/change.ts';
import {
  addMapping,
  importMappings,
  removeMapping,
} from '../../src/services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../src/services/provisioning/mappings/preview.ts';
import { syncGroups } from '../../src/services/provisioning/mappings/reconcile.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { listAttempts } from '../../src/services/signin/attempts.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import {
  listProjectMembers,
  putProjectMember,
} from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { disableSso, removeSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { clientOf } from '../support/scim-client.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

let provider: OpenIdProvider;
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  const redirect = `${idctl.baseUrl}/auth/sso/callback`;
  provider = await startOpenIdProvider({
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [redirect],
      },
    ],
  });
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

/**
 * An organization with a connection, three projects and the mappings dev → member of p1, ops →
 * admin of p1 and viewer of p2.
 */
async function mapped(more: Record<string, unknown> = {}) {
  const { org, domain, connection } = await connected(idctl, provider.issuer, more);
  const base = { org: org.slug };
  for (const slug of ['p1', 'p2', 'p3'])
    await createProject(idctl.operator(), { ...base, name: slug, slug });
  const dev = await addMapping(idctl.operator(), {
    ...base,
    group: 'dev',
    project: 'p1',
    role: 'member',
  });
  await addMapping(idctl.operator(), { ...base, group: 'ops', project: 'p1', role: 'admin' });
  await addMapping(idctl.operator(), { ...base, group: 'ops', project: 'p2', role: 'viewer' });
  const sub = fresh('sub');
  const email = `${sub}@${domain}`;
  const signIn = async (groups: unknown) => {
    provider.people.set(sub, { email, email_verified: true, name: 'Grace', groups });
    const { answer, client } = await signInAt(idctl, provider, domain, sub);
    expect(answer.status).toBe(200);
    return client;
  };
  const projects = async () => {
    const client = await signIn(undefined);
    const me = (await client.get('/api/v1/me')).body;
    return Object.fromEntries(
      me.organizations[0].projects.map(({ slug, role, synced }: Record<string, unknown>) => [
        slug,
        `${role}${synced ? ' synced' : ''}`,
      ]),
    );
  };
  const preview = (input: object) => previewMappings(idctl.operator(), { ...base, ...input });
  return { org, domain, connection, base, dev, sub, email, signIn, projects, preview };
}

const short = (plan: Awaited<ReturnType<typeof previewMappings>>) => ({
  adds: plan.adds.map(({ project, role, because }) => `${project.slug} ${role} ${because?.group}`),
  changes: plan.changes.map(
    ({ project, from, role, because }) => `${project.slug} ${from}>${role} ${because?.group}`,
  ),
  removes: plan.removes.map(
    ({ project, role, because }) => `${project.slug} ${role} ${because?.group}`,
  ),
});

describe('§3.3 group sync at a sign-in', () => {
  test('§3.3 adds synced memberships with the highest mapped role, and says where each came from', async () => {
    const { base, email, signIn, connection, projects } = await mapped();
    await signIn(['dev', 'ops', 'DEV', 'other']);
    expect(await projects()).toEqual({ p1: 'admin synced', p2: 'viewer synced' });
    const { items } = await listProjectMembers(idctl.operator(), {
      ...base,
      project: 'p1',
      limit: 10,
    });
    expect(items).toMatchObject([
      { email, role: 'admin', synced: true, origin: { kind: 'mapping', group: 'ops' } },
    ]);
    expect(connection.syncOnLogin).toBe(true);
  });

  test('§3.3 changes a synced role at the next sign-in, and keeps a membership without a group unless autoRemove is on', async () => {
    const { signIn, projects } = await mapped();
    await signIn(['ops']);
    await signIn(['dev']);
    expect(await projects()).toEqual({ p1: 'member synced', p2: 'viewer synced' });
  });

  test('§3.3 with autoRemove a synced membership without a group is removed', async () => {
    const { signIn, projects } = await mapped({ autoRemove: true });
    await signIn(['ops']);
    await signIn(['dev']);
    expect(await projects()).toEqual({ p1: 'member synced' });
    await signIn([]);
    expect(await projects()).toEqual({});
  });

  test('§3.3 a manual membership is never changed or removed: its row keeps every byte', async () => {
    const { base, email, signIn } = await mapped({ autoRemove: true });
    await signIn([]);
    for (const project of ['p1', 'p3']) {
      await putProjectMember(idctl.operator(), {
        ...base,
        project,
        user: email,
        role: 'commenter',
      });
    }
    const rows = () =>
      select('SELECT * FROM project_memberships WHERE synced = $1 ORDER BY project_id', [false]);
    const before = JSON.stringify(await rows());
    for (const groups of [['ops', 'dev'], ['dev'], []]) await signIn(groups);
    expect(JSON.stringify(await rows())).toBe(before);
  });

  test('I7 an absent, malformed or oversized groups claim changes nothing, and an event has the reason', async () => {
    const { org, signIn, projects } = await mapped({ autoRemove: true });
    await signIn(['dev']);
    for (const groups of [undefined, ['dev', 5], {}, Array(1001).fill('dev')]) await signIn(groups);
    expect(await projects()).toEqual({ p1: 'member synced' });
    const { items } = await listEvents(idctl.operator(), {
      org: org.slug,
      kind: 'sso.groups.unknown',
      limit: 50,
    });
    expect(items.map(({ data }) => data['why'])).toEqual([
      'absent',
      'malformed',
      'malformed',
      'too_many',
      'absent',
    ]);
  });

  test('I7 an absent claim counts as no groups if the connection says so', async () => {
    const { signIn, projects } = await mapped({ autoRemove: true, absentGroups: 'none' });
    await signIn(['dev']);
    expect(await projects()).toEqual({});
  });

  test('§2.2 I7 with sync on every login off, the first sign-in syncs and later ones change nothing', async () => {
    const { signIn, projects } = await mapped({ syncOnLogin: false, autoRemove: true });
    await signIn(['dev']);
    await signIn(['ops']);
    expect(await projects()).toEqual({ p1: 'member synced' });
  });

  test('§4.1 the removal of a role takes effect at the next request, even with the old access token', async () => {
    const { org, signIn } = await mapped({ autoRemove: true });
    const client = await signIn(['ops']);
    const members = `/api/v1/orgs/${org.slug}/projects/p1/members`;
    expect((await client.get(members)).status).toBe(200);
    await signIn([]);
    expect((await client.get(members)).status).not.toBe(200);
  });

  test('§2.3 I7 a mapping leads only to a project of its own organization, when it is added and when it is applied', async () => {
    const { org } = await mapped();
    const other = await organization(idctl);
    const foreign = await createProject(idctl.operator(), { org: other.slug, name: 'theirs' });
    const input = { org: org.slug, group: 'g', project: foreign.id, role: 'admin' as const };
    await expect(addMapping(idctl.operator(), input)).rejects.toMatchObject({ code: 'not_found' });
    const row = {
      id: orderedId(),
      organizationId: org.id,
      projectId: foreign.id,
      createdAt: new Date(),
    };
    await transaction(() => GroupMapping.create({ ...row, group: 'g', role: 'admin' }));
    const asked = { org: org.slug, user: 'a@b.test', groups: ['g'] };
    expect(await previewMappings(idctl.operator(), asked)).toMatchObject({
      adds: [],
      changes: [],
      removes: [],
    });
  });

  test('fifty syncs in parallel with a manual change leave one row, the manual one', async () => {
    const { base, email, signIn, org } = await mapped({ autoRemove: true });
    const client = await signIn(['dev']);
    const { id } = (await client.get('/api/v1/me')).body;
    const { SsoConnection } = await import('../../src/database/models/sso-connection.ts');
    const stored = await SsoConnection.findOne({
      where: { organizationId: org.id },
      rejectOnEmpty: true,
    });
    const said = (groups: string[]) => ({ known: true as const, groups });
    await Promise.all([
      ...Array.from({ length: 50 }, (_, at) =>
        syncGroups(idctl.operator(), stored.id, id, said(at % 2 ? ['dev'] : at % 3 ? ['ops'] : [])),
      ),
      putProjectMember(idctl.operator(), {
        ...base,
        project: 'p1',
        user: email,
        role: 'commenter',
      }),
    ]);
    const { items } = await listProjectMembers(idctl.operator(), {
      ...base,
      project: 'p1',
      limit: 10,
    });
    expect(items).toMatchObject([{ role: 'commenter', synced: false }]);
  });

  test('I7 a sync that fails changes nothing, writes an event, and does not fail the sign-in', async () => {
    const { org, signIn, projects } = await mapped();
    // Writing the event reads the webhooks, and happens after the memberships change.
    Webhook.addHook('beforeFind', 'break', () => {
      throw new Error('broken for a test');
    });
    try {
      await signIn(['ops']);
    } finally {
      Webhook.removeHook('beforeFind', 'break');
    }
    expect(await projects()).toEqual({});
    const { items } = await listEvents(idctl.operator(), {
      org: org.slug,
      kind: 'sso.groups.failed',
      limit: 5,
    });
    expect(items).toHaveLength(1);
  });
});

describe('§4.1 the dry-run preview', () => {
  test('§4.1 shows what the next sign-in adds, changes and removes, and writes nothing', async () => {
    const { email, signIn, projects, preview } = await mapped({ autoRemove: true });
    const steps: [string[], object, object][] = [
      [['dev'], { adds: ['p1 member dev'], changes: [], removes: [] }, { p1: 'member synced' }],
      [
        ['dev', 'ops'],
        { adds: ['p2 viewer ops'], changes: ['p1 member>admin ops'], removes: [] },
        { p1: 'admin synced', p2: 'viewer synced' },
      ],
      [
        ['dev'],
        { adds: [], changes: ['p1 admin>member dev'], removes: ['p2 viewer ops'] },
        { p1: 'member synced' },
      ],
    ];
    for (const [groups, planned, after] of steps) {
      const before = await hashOfAll();
      expect(short(await preview({ user: email, groups }))).toEqual(planned);
      expect(await hashOfAll()).toBe(before);
      await signIn(groups);
      expect(await projects()).toEqual(after);
    }
  });

  test('uses the groups of the last sign-in if none are given, and answers 409 groups_unknown if the person has not signed in', async () => {
    const { org, email, signIn, preview } = await mapped();
    await expect(preview({ user: email })).rejects.toMatchObject({ code: 'groups_unknown' });
    await signIn(['dev']);
    await addMapping(idctl.operator(), {
      org: org.slug,
      group: 'dev',
      project: 'p3',
      role: 'viewer',
    });
    expect(short(await preview({ user: email })).adds).toEqual(['p3 viewer dev']);
    const stranger = await person(idctl);
    await expect(preview({ user: stranger.id })).rejects.toMatchObject({ code: 'groups_unknown' });
    const admin = await signedIn(idctl, org.owner.email);
    const refused = await admin.post(`/api/v1/orgs/${org.slug}/group-mappings/preview`, {
      user: stranger.email,
    });
    expect(refused).toMatchObject({ status: 409, body: { code: 'groups_unknown' } });
  });

  test('plans for an unknown address as for a new person', async () => {
    const { preview } = await mapped();
    const plan = await preview({ user: 'new@nowhere.test', groups: ['ops'] });
    expect(short(plan)).toEqual({
      adds: ['p1 admin ops', 'p2 viewer ops'],
      changes: [],
      removes: [],
    });
  });

  test('takes the person and the groups from a sign-in attempt of the same organization', async () => {
    const { org, signIn, preview } = await mapped();
    await signIn(['ops']);
    await signIn(['dev']);
    const { items } = await listAttempts(idctl.operator(), { org: org.slug, limit: 10 });
    const ofOps = items.find(({ groups }) => JSON.stringify(groups) === '["ops"]');
    expect(short(await preview({ attempt: ofOps?.id })).changes).toEqual(['p1 member>admin ops']);
    const other = await mapped();
    expect(await preview({ attempt: ofOps?.reference })).toEqual(
      await preview({ attempt: ofOps?.id }),
    );
    await expect(other.preview({ attempt: ofOps?.reference })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(other.preview({ attempt: ofOps?.id })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

test('--dry-run of disabling or removing a connection, or removing its domain, names people and memberships, and changes nothing', async () => {
  const { base, domain, email, signIn } = await mapped();
  await signIn(['dev', 'ops']);
  const affected = {
    people: [email],
    owners: [],
    memberships: [
      { user: email, project: 'p1', role: 'admin' },
      { user: email, project: 'p2', role: 'viewer' },
    ],
  };
  const before = await hashOfAll();
  const operator = idctl.operator();
  const rehearsed = [
    await idctl.app.rehearse(() => disableSso(operator, base)),
    await idctl.app.rehearse(() => removeSso(operator, base)),
    await idctl.app.rehearse(() => removeDomain(operator, { ...base, domain })),
  ];
  for (const view of rehearsed) expect(view).toMatchObject(affected);
  expect(await hashOfAll()).toBe(before);
});

describe('mappings over REST and in bulk', () => {
  test('§2.3 I7 group names are kept exactly, and the same mapping cannot be added twice', async () => {
    const { org, base } = await mapped();
    const admin = await signedIn(idctl, org.owner.email);
    const path = `/api/v1/orgs/${org.slug}/group-mappings`;
    const names = [
      ' dev',
      'dev ',
      'Dev',
      'a, "b"',
      'CN=Ops,DC=acme',
      'ä💥',
      'x'.repeat(256),
      '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    ];
    for (const group of names) {
      const added = await admin.post(path, { group, project: 'p1', role: 'viewer' });
      expect(added).toMatchObject({
        status: 201,
        body: { group, project: { slug: 'p1' }, role: 'viewer' },
      });
      expect(await admin.post(path, { group, project: 'p1', role: 'viewer' })).toMatchObject({
        status: 409,
      });
    }
    const listed = (await admin.get(`${path}?limit=200`)).body.items.map(
      (one: { group: string }) => one.group,
    );
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(
      await previewMappings(idctl.operator(), { ...base, user: 'a@b.test', groups: ['dev '] }),
    ).toMatchObject({
      adds: [{ because: { group: 'dev ' } }],
    });
  });

  test.each([
    [{ group: '' }, 'group'],
    [{ group: ' \t ' }, 'group'],
    [{ group: 'x'.repeat(257) }, 'group'],
    [{ group: ['a'] }, 'group'],
    [{ role: 'owner' }, 'role'],
    [{ project: undefined }, 'project'],
    [{ project: undefined, role: undefined, orgRole: 'owner' }, 'orgRole'],
  ])('invalid input %j is refused with 400, and the error names %s', async (wrong, path) => {
    const { org } = await mapped();
    const admin = await signedIn(idctl, org.owner.email);
    const body = { group: 'g', project: 'p1', role: 'viewer', ...wrong };
    const answer = await admin.post(`/api/v1/orgs/${org.slug}/group-mappings`, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  test('removing a mapping names the memberships that it gave, which stay until the next sign-in', async () => {
    const { base, dev, email, signIn, projects } = await mapped({ autoRemove: true });
    await signIn(['dev']);
    const removed = await removeMapping(idctl.operator(), { ...base, id: dev.id });
    expect(removed.affected).toEqual([{ user: email, project: 'p1', role: 'member' }]);
    expect(await projects()).toEqual({ p1: 'member synced' });
    await signIn(['dev']);
    expect(await projects()).toEqual({});
  });

  test('a changed mapping keeps its id, and people get the other role at the next sign-in', async () => {
    const { base, dev, signIn, projects } = await mapped({ autoRemove: true });
    await signIn(['dev']);
    const change = (more: { project?: string; role?: 'viewer'; orgRole?: 'member' }) =>
      changeMapping(idctl.operator(), { ...base, id: dev.id, ...more });
    const target = { project: 'p1', role: 'viewer' } as const;
    expect(await change(target)).toMatchObject({ id: dev.id, group: 'dev', role: 'viewer' });
    expect(await projects()).toEqual({ p1: 'member synced' });
    await signIn(['dev']);
    expect(await projects()).toEqual({ p1: 'viewer synced' });
    await change({ project: 'p3', role: 'viewer' });
    await signIn(['dev']);
    expect(await projects()).toEqual({ p3: 'viewer synced' });
    const changes = async () =>
      (await listEvents(idctl.operator(), { ...base, limit: 50, kind: 'mapping.changed' })).items;
    const last = (await changes()).at(-1);
    expect(last?.data).toEqual({
      ...{ group: 'dev', project: 'p3', role: 'viewer' },
      from: { project: 'p1', role: 'viewer' },
    });
    await change({ project: 'p3', role: 'viewer' });
    expect(await changes()).toHaveLength(2);
    expect(await change({ orgRole: 'member' })).toEqual({
      ...{ id: dev.id, group: 'dev', orgRole: 'member' },
    });
    const other = await organization(idctl);
    await expect(
      changeMapping(idctl.operator(), { org: other.slug, id: dev.id, orgRole: 'member' }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  test('two mappings cannot be changed to the same role', async () => {
    const { base, dev } = await mapped();
    await addMapping(idctl.operator(), { ...base, group: 'dev', project: 'p2', role: 'viewer' });
    const same = { ...base, id: dev.id, project: 'p2', role: 'viewer' as const };
    await expect(changeMapping(idctl.operator(), same)).rejects.toMatchObject({
      code: 'already_exists',
      message: '"dev" is already mapped to p2 as viewer.',
    });
  });

  test('members of a SCIM group change to the other role of a mapping without losing the project', async () => {
    const { base, dev, org, domain } = await mapped();
    const { token } = await rotateScimToken(idctl.operator(), base);
    const scim = clientOf(idctl, org, token);
    const { id: value } = await scim.create({ userName: `mia@${domain}`, externalId: 'e-1' });
    await scim.send('POST', '/Groups', { displayName: 'dev', members: [{ value }] });
    const members = async () =>
      (await listProjectMembers(idctl.operator(), { ...base, limit: 50, project: 'p1' })).items;
    const [before] = await members();
    expect(before).toMatchObject({ role: 'member', synced: true });
    await changeMapping(idctl.operator(), { ...base, id: dev.id, project: 'p1', role: 'viewer' });
    expect(await members()).toEqual([{ ...before, role: 'viewer' }]);
    const { items } = await listEvents(idctl.operator(), {
      ...base,
      limit: 50,
      kind: 'scim.groups.synced',
    });
    expect(items.at(-1)?.data).toMatchObject({
      adds: [],
      removes: [],
      changes: [{ from: 'member' }],
    });
  });

  test('an import adds missing mappings, and with replace removes the others; if one is invalid, nothing changes', async () => {
    const { base } = await mapped();
    const list = (
      replace: boolean,
      ...mappings: { group: string; project: string; role: 'viewer' | 'member' }[]
    ) => importMappings(idctl.operator(), { ...base, mappings, replace });
    const row = { group: 'qa', project: 'p3', role: 'viewer' as const };
    const dev = { group: 'dev', project: 'p1', role: 'member' as const };
    expect(await list(false, row, row, dev)).toMatchObject({
      added: [{ group: 'qa' }],
      kept: 3,
      removed: [],
    });
    expect(await list(true, row, dev)).toMatchObject({
      added: [],
      kept: 2,
      removed: [{ group: 'ops' }, { group: 'ops' }],
    });
    await expect(list(true, { ...row, project: 'nowhere' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await list(false)).toMatchObject({ kept: 2 });
  });

  test('§2.3, I7 an organization has at most 10000 mappings, whether added or imported', async () => {
    const { org, base } = await mapped();
    const [project] = await Project.findAll({ where: { organizationId: org.id, slug: 'p3' } });
    const row = {
      organizationId: org.id,
      projectId: project?.id ?? '',
      role: 'viewer' as const,
      createdAt: new Date(),
    };
    const rows = Array.from({ length: 9996 }, (_, at) => ({
      ...row,
      id: orderedId(),
      group: `g${at}`,
    }));
    for (let at = 0; at < rows.length; at += 1000) {
      await transaction(() => GroupMapping.bulkCreate(rows.slice(at, at + 1000)));
    }
    const triple = (group: string) => ({ group, project: 'p3', role: 'viewer' as const });
    const bring = (replace: boolean, ...groups: string[]) =>
      importMappings(idctl.operator(), { ...base, mappings: groups.map(triple), replace });
    const full = { code: 'cap_reached', message: expect.stringContaining('10000') };
    await expect(bring(false, 'one', 'two')).rejects.toMatchObject(full);
    expect(await bring(false, 'g1', 'one')).toMatchObject({
      added: [{ group: 'one' }],
      kept: 9999,
    });
    await expect(addMapping(idctl.operator(), { ...base, ...triple('two') })).rejects.toMatchObject(
      full,
    );
    expect(
      await previewMappings(idctl.operator(), { ...base, user: 'a@b.test', groups: ['g9'] }),
    ).toMatchObject({
      adds: [{ because: { group: 'g9' } }],
    });
  });
});

async function hashOfAll(): Promise<string> {
  const tables = [
    'project_memberships',
    'memberships',
    'events',
    'identities',
    'accounts',
    'group_mappings',
    'sso_attempts',
  ];
  const rows = await transaction(() =>
    Promise.all(tables.map((table) => select(`SELECT * FROM ${table} ORDER BY 1, 2`, []))),
  );
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}
