import { describe, expect, test } from 'vitest';
import { planDocument } from '../../src/services/provisioning/document/plan.ts';
import { sentDocument } from '../../src/services/provisioning/document/schema.ts';
import type { ProjectMember, State } from '../../src/services/provisioning/document/state.ts';
import type { PlanInput } from '../../src/services/provisioning/document/wanted.ts';

const settings = {
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
  sso: { ...settings, id: 'sso', secret: 'x' },
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
      taken: new Set(),
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

  test('a person keeps the lower role that another group still gives', () => {
    expect(planned({ mappings: [all] }).losing).toEqual(lost('viewer'));
  });

  test('a person loses the membership, if no group gives a role and autoRemove is on', () => {
    expect(planned({ mappings: [] }).losing).toEqual(lost(null));
  });

  test('no one loses access, if autoRemove is off', () => {
    const sso = { ...settings, autoRemove: false, id: 'sso', secret: 'x' };
    expect(planned({ mappings: [] }, { sso }).losing).toEqual([]);
  });

  test('no one loses access, if an added mapping gives as much', () => {
    const same = { group: 'all', project: 'web', role: 'admin' };
    expect(planned({ mappings: [all, same] }).losing).toEqual([]);
  });

  test('only the group that gave the role counts, if the groups of the last sign-in are unknown', () => {
    const plan = planned({ mappings: [all] }, {}, { groups: new Map() });
    expect(plan.losing).toEqual(lost(null));
  });

  test('no one loses access, if the document gives the role by hand', () => {
    const members = [{ email: 'ada@acme.test', role: 'admin' }];
    const plan = planned({ mappings: [], projects: [{ slug: 'web', name: 'Web', members }] });
    expect(plan.losing).toEqual([]);
    const fields = [{ field: 'synced', from: true, to: false }];
    expect(plan.changes[0]).toMatchObject({ action: 'change', key: 'web/ada@acme.test', fields });
  });

  describe('with a role in the organization', () => {
    const gives = (group: string, orgRole: 'member' | 'admin') => ({ group, orgRole });
    const ldap = { ...directory, id: 'ldap', secret: 'x' };
    const losing = (
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
      return planned({ mappings }, { ...held, projectMembers: [] }, { groups }).losing;
    };

    test('a person loses the role, if no other group gives as much', () => {
      const lost = [{ email: 'ada@acme.test', from: 'admin', to: 'member' }];
      expect(losing('admin', 'sso', [])).toEqual(lost);
      expect(losing('admin', 'sso', [gives('dev', 'member')])).toEqual(lost);
    });

    test('no one loses the role, if another group gives more', () => {
      expect(losing('member', 'sso', [gives('dev', 'admin')])).toEqual([]);
    });

    test('no one loses the role, if a directory gave it: a directory removes no role, and its groups match by common name', () => {
      expect(losing('admin', 'ldap', [])).toEqual([]);
      expect(losing('admin', 'ldap', [gives('it', 'admin'), gives('dev', 'member')])).toEqual([]);
    });
  });

  test('all members of a removed project lose access, and its mappings are removed too', () => {
    const plan = planned({ projects: [] });
    expect(plan.losing).toEqual(lost(null));
    expect(plan.changes.map(({ section, action }) => `${action} ${section}`)).toEqual([
      'remove projects',
      'remove mappings',
      'remove mappings',
    ]);
  });
});

test('people who sign in by a connection lose it if it is disabled or removed, or if its domain is removed', () => {
  const byIt = [{ email: 'ada@acme.test', from: 'sso', to: null }];
  expect(planned({ sso: null }).losing).toEqual(byIt);
  const { redirectUri: _, ...kept } = settings;
  expect(planned({ sso: { ...kept, enabled: false } }).losing).toEqual(byIt);
  const plan = planned({ domains: [] });
  expect(plan.losing).toEqual(byIt);
  expect(plan.changes.map(({ key }) => key)).toEqual(['acme.test', 'sso']);
});

test('pruning never removes a member that SCIM added', () => {
  const members = [...state.members, { ...person('sam'), kind: 'scim' as const }];
  const document = { members: [{ email: 'olga@acme.test', role: 'owner' }] };
  expect(planned(document, { members }).steps.removeMembers).toEqual([
    { accountId: 'ada', from: 'member' },
  ]);
});

test('a webhook is found by its URL, and the order of its kinds does not matter', () => {
  const hook = { url: 'https://hooks.test/', events: ['member.*', 'scim.*'] };
  expect(planned({ webhooks: [hook] }).changes).toEqual([]);
  expect(planned({ webhooks: [{ ...hook, enabled: false }] }).steps.changeWebhooks).toEqual([
    { id: 'w1', enabled: false },
  ]);
  expect(planned({ webhooks: [{ ...hook, events: ['*'] }] }).steps.changeWebhooks).toEqual([
    { id: 'w1', enabled: true, events: ['*'] },
  ]);
});

const wiki = {
  id: 'c1',
  name: 'Wiki',
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

  test('a client is found by its name, and the order of its addresses does not matter', () => {
    expect(planned({ clients: [asWritten] }, { clients }).changes).toEqual([]);
    const changed = planned({ clients: [{ ...asWritten, pkce: false }] }, { clients });
    expect(changed.changes[0]?.fields).toEqual([{ field: 'pkce', from: true, to: false }]);
    expect(planned({ clients: [] }, { clients }).steps.removeClients).toEqual(clients);
  });

  test('a new client may name a project that the document adds, but not an unknown project', () => {
    const more = { clients: [{ ...asWritten, project: 'news' }] };
    const projects = [{ slug: 'news', name: 'News' }];
    expect(planned({ ...more, projects }, {}).steps.addClients).toHaveLength(1);
    expect(() => planned(more)).toThrow('document.clients.0.project: there is no project news');
    const loose = { clients: [{ ...asWritten, project: null, role: 'admin' }] };
    expect(() => planned(loose)).toThrow('document.clients.0.role');
  });

  test('a project that a client requires is removed only with the client', () => {
    const refused = { code: 'conflict', message: expect.stringContaining('Wiki') };
    expect(() => planned({ projects: [] }, { clients })).toThrow(expect.objectContaining(refused));
    const both = planned({ projects: [], clients: [] }, { clients });
    expect(both.steps.removeProjects).toHaveLength(1);
  });

  test('an origin that cannot be registered is blocked, and the rest is planned', () => {
    const origin = 'https://app.test';
    const why = { code: 'domain_unverified' as const, message: 'm', hint: 'h' };
    const origins = new Map([[origin, why]]);
    const given = { ...asWritten, forwardAuthOrigins: [origin, 'https://wiki.test'] };
    const plan = planned({ clients: [given] }, {}, { origins });
    expect(plan.blocked).toEqual([{ section: 'clients', key: 'Wiki', ...why }]);
    expect(plan.steps.addClients[0]?.forwardAuthOrigins).toEqual(['https://wiki.test']);
    const alone = { name: 'App', forwardAuthOrigins: [origin] };
    expect(planned({ clients: [alone] }, {}, { origins }).steps.addClients).toEqual([]);
  });
});

test('a mapping to a project that the document removes is refused with its place in the document', () => {
  const document = { projects: [], mappings: [{ group: 'a', project: 'web', role: 'member' }] };
  expect(() => planned(document)).toThrow('document.mappings.0.project: there is no project web');
});

test('a document without an owner is refused, but another member may become the owner', () => {
  const list = (one: string, other: string) => ({
    members: [
      { email: 'olga@acme.test', role: one },
      { email: 'ada@acme.test', role: other },
    ],
  });
  expect(() => planned(list('admin', 'member'))).toThrow('without an owner');
  expect(planned(list('member', 'owner')).changes).toHaveLength(2);
});
