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

const person = (email: string, role: 'member' | 'admin' | 'owner' = 'member') => {
  return {
    accountId: email,
    email: `${email}@acme.test`,
    role,
    kind: 'operator' as const,
    given: null,
  };
};

/** Ada has a role in `web` by the mapping of her group. */
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
      trusting: false,
      linked: { sso: ['ada'], ldap: [] },
      groups: new Map([['sso ada', ['dev', 'all']]]),
      pushed: new Map(),
      ...outside,
    },
  });
}

const lost = (to: string | null) => [{ email: 'ada@acme.test', project: 'web', from: 'admin', to }];

describe('who loses access when mappings go', () => {
  const all = { group: 'all', project: 'web', role: 'viewer' };

  test('a lower role that another group still gives', () => {
    expect(planned({ mappings: [all] }).losing).toEqual(lost('viewer'));
  });

  test('the membership, if no group gives a role and the connection removes', () => {
    expect(planned({ mappings: [] }).losing).toEqual(lost(null));
  });

  test('no one, if the connection removes nothing', () => {
    const sso = { ...settings, autoRemove: false, id: 'sso', secret: 'x' };
    expect(planned({ mappings: [] }, { sso }).losing).toEqual([]);
  });

  test('no one, if an added mapping gives as much', () => {
    const same = { group: 'all', project: 'web', role: 'admin' };
    expect(planned({ mappings: [all, same] }).losing).toEqual([]);
  });

  test('by the group that gave the role, if the groups of the last sign-in are unknown', () => {
    const plan = planned({ mappings: [all] }, {}, { groups: new Map() });
    expect(plan.losing).toEqual(lost(null));
  });

  test('no one, if the document gives the role by hand', () => {
    const members = [{ email: 'ada@acme.test', role: 'admin' }];
    const plan = planned({ mappings: [], projects: [{ slug: 'web', name: 'Web', members }] });
    expect(plan.losing).toEqual([]);
    const fields = [{ field: 'synced', from: true, to: false }];
    expect(plan.changes[0]).toMatchObject({ action: 'change', key: 'web/ada@acme.test', fields });
  });

  test('all members of a removed project, with its mappings', () => {
    const plan = planned({ projects: [] });
    expect(plan.losing).toEqual(lost(null));
    expect(plan.changes.map(({ section, action }) => `${action} ${section}`)).toEqual([
      'remove projects',
      'remove mappings',
      'remove mappings',
    ]);
  });
});

test('the people who sign in by a removed or disabled connection lose it', () => {
  const byIt = [{ email: 'ada@acme.test', from: 'sso', to: null }];
  expect(planned({ sso: null }).losing).toEqual(byIt);
  const { redirectUri: _, ...kept } = settings;
  expect(planned({ sso: { ...kept, enabled: false } }).losing).toEqual(byIt);
  const plan = planned({ domains: [] });
  expect(plan.losing).toEqual(byIt);
  expect(plan.changes.map(({ key }) => key)).toEqual(['acme.test', 'sso']);
});

test('members that came by a connection or provisioning are never surplus', () => {
  const members = [...state.members, { ...person('sam'), kind: 'scim' as const }];
  const document = { members: [{ email: 'olga@acme.test', role: 'owner' }] };
  expect(planned(document, { members }).steps.removeMembers).toEqual([
    { accountId: 'ada', from: 'member' },
  ]);
});

test('a webhook is known by its URL, whatever the order of its kinds', () => {
  const hook = { url: 'https://hooks.test/', events: ['member.*', 'scim.*'] };
  expect(planned({ webhooks: [hook] }).changes).toEqual([]);
  expect(planned({ webhooks: [{ ...hook, enabled: false }] }).steps.changeWebhooks).toEqual([
    { id: 'w1', enabled: false },
  ]);
  expect(planned({ webhooks: [{ ...hook, events: ['*'] }] }).steps.changeWebhooks).toEqual([
    { id: 'w1', enabled: true, events: ['*'] },
  ]);
});

test('refuses a mapping to a project that the document removes, and names its place', () => {
  const document = { projects: [], mappings: [{ group: 'a', project: 'web', role: 'member' }] };
  expect(() => planned(document)).toThrow('document.mappings.0.project: there is no project web');
});

test('refuses a document without an owner, and allows to hand the role over', () => {
  const list = (one: string, other: string) => ({
    members: [
      { email: 'olga@acme.test', role: one },
      { email: 'ada@acme.test', role: other },
    ],
  });
  expect(() => planned(list('admin', 'member'))).toThrow('without an owner');
  expect(planned(list('member', 'owner')).changes).toHaveLength(2);
});
