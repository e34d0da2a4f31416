import { describe, expect, test } from 'vitest';
import { planDocument } from '../../src/services/provisioning/document/plan.ts';
import { sentDocument } from '../../src/services/provisioning/document/schema.ts';
import type { ProjectMember } from '../../src/services/provisioning/document/sections/project-members.ts';
import type { State } from '../../src/services/provisioning/document/sections.ts';
import type { PlanInput } from '../../src/services/provisioning/document/wanted.ts';
import { turnsDuring } from '../support/turns.ts';

const settings = {
  kind: 'oidc' as const,
  emailDomain: 'acme.test',
  issuer: 'https://idp.test',
  clientId: 'c',
  redirectUri: null,
  enabled: true,
  syncOnLogin: true,
  groupsClaim: 'groups',
  autoRemove: true,
  absentGroups: 'unknown' as const,
  ignoreEmailVerified: false,
  requireLocalTwoFactor: false,
};

const directory = {
  uri: 'ldaps://ldap.acme.test',
  bindDn: 'cn=idctl,dc=acme,dc=test',
  searchBase: 'dc=acme,dc=test',
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
  givenNameAttribute: 'givenName',
  familyNameAttribute: 'sn',
  groupsAttribute: 'memberOf',
  tls: true,
  caCertificate: null,
  enabled: true,
};

const person = (email: string, role: 'member' | 'admin' | 'owner' = 'member') => {
  return {
    accountId: email,
    email: `${email}@acme.test`,
    role,
    kind: 'operator' as const,
    given: null,
  };
};

/** Ada's role in `web`, which a mapping of her group gave. */
function synced(mappingId: string, role: 'viewer' | 'member' | 'admin'): ProjectMember {
  return {
    accountId: 'ada',
    email: 'ada@acme.test',
    project: 'web',
    role,
    synced: true,
    source: null,
    by: 'sso',
    group: 'dev',
    mappingId,
  };
}

const state: State = {
  organization: { slug: 'acme', name: 'Acme' },
  domains: [{ name: 'acme.test', state: 'Verified' }],
  sso: { ...settings, metadata: null, id: 'sso', secret: 'x' },
  ldap: null,
  signin: {},
  webhooks: [
    { id: 'w1', url: 'https://hooks.test/', events: ['scim.*', 'member.*'], enabled: true },
  ],
  clients: [],
  projects: [{ id: 'p1', slug: 'web', name: 'Web' }],
  mappings: [
    { id: 'm1', group: 'dev', project: 'web', role: 'admin' },
    { id: 'm2', group: 'all', project: 'web', role: 'viewer' },
  ],
  members: [person('olga', 'owner'), person('ada')],
  projectMembers: [synced('m1', 'admin')],
};

function planned(
  document: Record<string, unknown>,
  more: Partial<State> = {},
  outside: Partial<PlanInput['outside']> = {},
) {
  return planDocument({
    state: { ...state, ...more },
    document: sentDocument.parse({ idctl: 1, ...document }),
    prune: true,
    secrets: { sso: null, ldap: null },
    outside: {
      people: new Map(),
      uninvited: new Map(),
      taken: new Set(),
      metadata: null,
      origins: new Map(),
      trusting: false,
      linked: { sso: ['ada'], ldap: [] },
      groups: new Map([['sso ada', ['dev', 'all']]]),
      pushed: new Map(),
      ...outside,
    },
  });
}

const lost = (to: string | null) => [{ email: 'ada@acme.test', project: 'web', from: 'admin', to }];

describe('access after mappings are removed', () => {
  const all = { group: 'all', project: 'web', role: 'viewer' };

  test('a person keeps the lower role that another group still gives', async () => {
    expect((await planned({ mappings: [all] })).losing).toEqual(lost('viewer'));
  });

  test('a person loses the membership, if no group gives a role and autoRemove is on', async () => {
    expect((await planned({ mappings: [] })).losing).toEqual(lost(null));
  });

  test('no one loses access, if autoRemove is off', async () => {
    const sso = { ...settings, autoRemove: false, metadata: null, id: 'sso', secret: 'x' };
    expect((await planned({ mappings: [] }, { sso })).losing).toEqual([]);
  });

  test('no one loses access, if an added mapping gives as much', async () => {
    const same = { group: 'all', project: 'web', role: 'admin' };
    expect((await planned({ mappings: [all, same] })).losing).toEqual([]);
  });

  test('only the group that gave the role counts, if the groups of the last sign-in are unknown', async () => {
    const plan = await planned({ mappings: [all] }, {}, { groups: new Map() });
    expect(plan.losing).toEqual(lost(null));
  });

  test('no one loses access, if the document gives the role by hand', async () => {
    const members = [{ email: 'ada@acme.test', role: 'admin' }];
    const plan = await planned({ mappings: [], projects: [{ slug: 'web', name: 'Web', members }] });
    expect(plan.losing).toEqual([]);
    const fields = [{ field: 'synced', from: true, to: false }];
    expect(plan.changes[0]).toMatchObject({ action: 'change', key: 'web/ada@acme.test', fields });
  });

  describe('with a role in the organization', () => {
    const gives = (group: string, orgRole: 'member' | 'admin') => ({ group, orgRole });
    const ldap = { ...directory, id: 'ldap', secret: 'x' };
    const losing = async (
      role: 'member' | 'admin',
      by: 'sso' | 'ldap',
      mappings: ReturnType<typeof gives>[],
    ) => {
      const given = { source: null, by, group: 'it', mappingId: 'm3' };
      const members = [person('olga', 'owner'), { ...person('ada', role), given }];
      const held = { ldap, members, mappings: [{ id: 'm3', ...gives('it', role) }] };
      const groups = new Map([
        ['sso ada', ['dev']],
        ['ldap ada', ['cn=it,ou=groups,dc=acme,dc=test']],
      ]);
      return (await planned({ mappings }, { ...held, projectMembers: [] }, { groups })).losing;
    };

    test('a person loses the role, if no other group gives as much', async () => {
      const lost = [{ email: 'ada@acme.test', from: 'admin', to: 'member' }];
      expect(await losing('admin', 'sso', [])).toEqual(lost);
      expect(await losing('admin', 'sso', [gives('dev', 'member')])).toEqual(lost);
    });

    test('no one loses the role, if another group gives more', async () => {
      expect(await losing('member', 'sso', [gives('dev', 'admin')])).toEqual([]);
    });

    test('no one loses the role, if a directory gave it: a directory does not remove a role, and its groups match by common name', async () => {
      expect(await losing('admin', 'ldap', [])).toEqual([]);
      expect(await losing('admin', 'ldap', [gives('it', 'admin'), gives('dev', 'member')])).toEqual(
        [],
      );
    });
  });

  test('all members of a removed project lose access, and its mappings are removed too', async () => {
    const plan = await planned({ projects: [] });
    expect(plan.losing).toEqual(lost(null));
    expect(plan.changes.map(({ section, action }) => `${action} ${section}`)).toEqual([
      'remove projects',
      'remove mappings',
      'remove mappings',
    ]);
  });
});

test('people who sign in by a connection lose it if it is disabled or removed, or if its domain is removed', async () => {
  const byIt = [{ email: 'ada@acme.test', from: 'sso', to: null }];
  expect((await planned({ sso: null })).losing).toEqual(byIt);
  const { redirectUri: _, ...kept } = settings;
  expect((await planned({ sso: { ...kept, enabled: false } })).losing).toEqual(byIt);
  const plan = await planned({ domains: [] });
  expect(plan.losing).toEqual(byIt);
  expect(plan.changes.map(({ key }) => key)).toEqual(['acme.test', 'sso']);
});

test('pruning never removes a member that SCIM added', async () => {
  const members = [...state.members, { ...person('sam'), kind: 'scim' as const }];
  const document = { members: [{ email: 'olga@acme.test', role: 'owner' }] };
  expect((await planned(document, { members })).steps.members.remove).toEqual([
    { accountId: 'ada', from: 'member' },
  ]);
});

test('a webhook is found by its URL, and the order of its kinds does not matter', async () => {
  const hook = { url: 'https://hooks.test/', events: ['member.*', 'scim.*'] };
  expect((await planned({ webhooks: [hook] })).changes).toEqual([]);
  expect(
    (await planned({ webhooks: [{ ...hook, enabled: false }] })).steps.webhooks.change,
  ).toEqual([{ id: 'w1', enabled: false }]);
  expect((await planned({ webhooks: [{ ...hook, events: ['*'] }] })).steps.webhooks.change).toEqual(
    [{ id: 'w1', enabled: true, events: ['*'] }],
  );
});

const wiki = {
  id: 'c1',
  name: 'Wiki',
  homeUrl: null,
  redirectUris: ['https://wiki.test/a', 'https://wiki.test/b'],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  forwardAuthOrigins: [],
  public: false,
  pkce: true,
  idTokenAlg: 'RS256' as const,
  project: 'web',
  role: 'viewer' as const,
};
const asWritten = { name: 'Wiki', redirectUris: wiki.redirectUris.toReversed(), project: 'web' };

describe('clients', () => {
  const clients = [wiki];

  test('a client is found by its name, and the order of its addresses does not matter', async () => {
    expect((await planned({ clients: [asWritten] }, { clients })).changes).toEqual([]);
    const changed = await planned({ clients: [{ ...asWritten, pkce: false }] }, { clients });
    expect(changed.changes[0]?.fields).toEqual([{ field: 'pkce', from: true, to: false }]);
    expect((await planned({ clients: [] }, { clients })).steps.clients.remove).toEqual(clients);
  });

  test('a new client may name a project that the document adds, but not an unknown project', async () => {
    const more = { clients: [{ ...asWritten, project: 'news' }] };
    const projects = [{ slug: 'news', name: 'News' }];
    expect((await planned({ ...more, projects }, {})).steps.clients.add).toHaveLength(1);
    await expect(planned(more)).rejects.toThrow(
      'document.clients.0.project: there is no project news',
    );
    const loose = { clients: [{ ...asWritten, project: null, role: 'admin' }] };
    await expect(planned(loose)).rejects.toThrow('document.clients.0.role');
  });

  test('a project that a client requires is removed only with the client', async () => {
    const refused = { code: 'conflict', message: expect.stringContaining('Wiki') };
    await expect(planned({ projects: [] }, { clients })).rejects.toThrow(
      expect.objectContaining(refused),
    );
    const both = await planned({ projects: [], clients: [] }, { clients });
    expect(both.steps.projects.remove).toHaveLength(1);
  });

  test('an origin that cannot be registered is blocked, and the rest is planned', async () => {
    const origin = 'https://app.test';
    const why = { code: 'domain_unverified' as const, message: 'm', hint: 'h' };
    const origins = new Map([[origin, why]]);
    const given = { ...asWritten, forwardAuthOrigins: [origin, 'https://wiki.test'] };
    const plan = await planned({ clients: [given] }, {}, { origins });
    expect(plan.blocked).toEqual([{ section: 'clients', key: 'Wiki', ...why }]);
    expect(plan.steps.clients.add[0]?.forwardAuthOrigins).toEqual(['https://wiki.test']);
    const alone = { name: 'App', forwardAuthOrigins: [origin] };
    expect((await planned({ clients: [alone] }, {}, { origins })).steps.clients.add).toEqual([]);
  });
});

test('a mapping to a project that the document removes is refused with its place in the document', async () => {
  const document = { projects: [], mappings: [{ group: 'a', project: 'web', role: 'member' }] };
  await expect(planned(document)).rejects.toThrow(
    'document.mappings.0.project: there is no project web',
  );
});

test('a document without an owner is refused, but another member may become the owner', async () => {
  const list = (one: string, other: string) => ({
    members: [
      { email: 'olga@acme.test', role: one },
      { email: 'ada@acme.test', role: other },
    ],
  });
  await expect(planned(list('admin', 'member'))).rejects.toThrow('without an owner');
  expect((await planned(list('member', 'owner'))).changes).toHaveLength(2);
});

test('O15 the roles that 500 people would lose are computed in slices, so that other work runs in between', async () => {
  const names = Array.from({ length: 500 }, (_, at) => `p${at}`);
  const given = { source: null, by: 'sso', group: 'it', mappingId: 'm1' };
  const members = [
    person('olga', 'owner'),
    ...names.map((name) => ({ ...person(name, 'admin'), given })),
  ];
  const projectMembers = names.map((name) => {
    return { ...synced('m1', 'admin'), accountId: name, email: `${name}@acme.test` };
  });
  const groups = new Map(names.map((name) => [`sso ${name}`, ['it']]));
  const empty = await turnsDuring(planned({ mappings: [] }));
  const inProjects = planned({ mappings: [] }, { projectMembers, members }, { groups });
  expect((await turnsDuring(inProjects)) - empty).toBeGreaterThanOrEqual(100);
  expect((await inProjects).losing).toHaveLength(1000);
});
