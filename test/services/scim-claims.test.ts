import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMapping, removeMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import {
  changeMemberRole,
  listMembers,
} from '../../src/services/tenancy/memberships/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { disableSso, enableSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

// The people in these tests have groups from a claim at real sign-ins, and groups from SCIM.

let idctl: Idctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

/** Creates an organization with SSO, a SCIM client, three projects and a mapped group for each. */
async function founded(more: Record<string, unknown> = {}) {
  const { org, domain } = await connected(idctl, provider.issuer, more);
  const base = { org: org.slug };
  for (const slug of ['claimed', 'pushed', 'both']) {
    await createProject(idctl.operator(), { ...base, name: slug, slug });
    await addMapping(idctl.operator(), { ...base, group: slug, project: slug, role: 'member' });
  }
  const { token } = await rotateScimToken(idctl.operator(), base);
  const scim = clientOf(idctl, org, token);
  const person = async () => {
    const sub = fresh('ada');
    const email = `${sub}@${domain}`;
    const signIn = async (groups: unknown) => {
      provider.people.set(sub, { email, email_verified: true, name: 'Ada', groups });
      const { answer, client } = await signInAt(idctl, provider, domain, sub);
      expect(answer.status).toBe(200);
      return client;
    };
    const record = async () => {
      const found = await scim.get(`/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`);
      return { value: String(found.body.Resources[0].id) };
    };
    const told = async () => {
      const { member, projects } = await explain(idctl.operator(), { ...base, user: email });
      const source = ({ group, source: from }: (typeof projects)[number]['origin']) =>
        group === undefined ? '' : ` by ${from ?? 'claim'} ${group}`;
      const roles = projects.map(({ slug, role, origin }) => [slug, `${role}${source(origin)}`]);
      return {
        org: `${member?.role}${member && source(member.origin)}`,
        ...Object.fromEntries(roles),
      };
    };
    return { email, signIn, record, told };
  };
  const push = async (displayName: string, ...members: { value: string }[]) => {
    const { status, body } = await scim.send('POST', '/Groups', { displayName, members });
    expect(status).toBe(201);
    return String(body.id);
  };
  const members = async () => {
    const { items } = await listMembers(idctl.operator(), { ...base, limit: 50 });
    return new Map(items.map(({ email, role }) => [email, role]));
  };
  return { org, base, scim, person, push, members };
}

test('I7 a sign-in unites the claim’s groups and the pushed groups; explain and the account page name the source of each role', async () => {
  const { base, scim, person, push } = await founded({ autoRemove: true });
  await addMapping(idctl.operator(), { ...base, group: 'pushed', orgRole: 'admin' });
  const ada = await person();
  await ada.signIn([]);
  const record = await ada.record();
  const pushed = await push('pushed', record);
  const both = await push('both', record);
  const client = await ada.signIn(['claimed', 'both']);
  expect(await ada.told()).toEqual({
    org: 'admin by scim pushed',
    both: 'member by scim both',
    claimed: 'member by claim claimed',
    pushed: 'member by scim pushed',
  });
  const { text } = await open(client, '/');
  expect(text).toContain('Your role comes from the provisioned group pushed.');
  expect(text).toContain('both (member, from the provisioned group both)');
  expect(text).toContain('claimed (member, from the group claimed)');

  await scim.send('DELETE', `/Groups/${both}`);
  expect(await ada.told()).toMatchObject({ both: 'member by claim both' });
  await ada.signIn([]);
  expect(await ada.told()).toEqual({
    org: 'admin by scim pushed',
    pushed: 'member by scim pushed',
  });
  await scim.send('DELETE', `/Groups/${pushed}`);
  expect(await ada.told()).toEqual({ org: 'member' });
});

test('I7 the last claim of a disabled connection does not give a new role, and its earlier roles stay', async () => {
  const { base, scim, person, push } = await founded({ autoRemove: true });
  const ada = await person();
  await ada.signIn(['claimed']);
  await disableSso(idctl.operator(), base);
  const more = { group: 'claimed', project: 'both', role: 'viewer' as const };
  await addMapping(idctl.operator(), { ...base, ...more });
  const pushed = await push('pushed', await ada.record());
  const stays = { org: 'member', claimed: 'member by claim claimed' };
  expect(await ada.told()).toEqual({ ...stays, pushed: 'member by scim pushed' });
  await enableSso(idctl.operator(), base);
  await scim.send('DELETE', `/Groups/${pushed}`);
  expect(await ada.told()).toEqual({ ...stays, both: 'viewer by claim claimed' });
});

test('O3 no claim, push or mapping changes the role of the last owner', async () => {
  const { org, base, scim, person, push, members } = await founded({ autoRemove: true });
  const ada = await person();
  await ada.signIn([]);
  await changeMemberRole(idctl.operator(), { ...base, user: ada.email, role: 'owner' });
  await changeMemberRole(idctl.operator(), { ...base, user: org.owner.id, role: 'member' });
  const mapped = [
    await addMapping(idctl.operator(), { ...base, group: 'claimed', orgRole: 'member' }),
    await addMapping(idctl.operator(), { ...base, group: 'pushed', orgRole: 'admin' }),
  ];
  const record = await ada.record();
  const role = async () => (await members()).get(ada.email);
  for (const synced of [false, true]) {
    // No command makes an owner's role synced.
    await transaction(() =>
      execute('UPDATE memberships SET synced = $1 WHERE role = $2', [synced, 'owner']),
    );
    const group = await push('pushed', record);
    expect(await role()).toBe('owner');
    for (const groups of [['claimed'], ['pushed'], []]) {
      await ada.signIn(groups);
      expect(await role()).toBe('owner');
    }
    await scim.send('DELETE', `/Groups/${group}`);
    expect(await role()).toBe('owner');
  }
  await push('pushed', record);
  for (const { id } of mapped) await removeMapping(idctl.operator(), { ...base, id });
  expect(await role()).toBe('owner');
});
