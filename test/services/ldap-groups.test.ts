import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { ProjectMembership } from '../../src/database/models/project-membership.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { addMapping, removeMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../src/services/provisioning/mappings/preview.ts';
import { syncGroups } from '../../src/services/provisioning/mappings/reconcile.ts';
import { removeLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { type Slapd, startSlapd, suffix } from '../support/slapd.ts';

// The overlay of slapd writes memberOf when groups change.

let idctl: Idctl;
let slapd: Slapd;
const missing = counterpartMissing('slapd');
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  if (!missing) slapd = await startSlapd();
});
afterAll(async () => {
  await slapd?.stop();
  await idctl.close();
});

describe.skipIf(missing)('groups of a directory', () => {
  let org: string;
  let orgId: string;
  let domain: string;
  let uid: string;
  let dev: string;

  beforeEach(async () => {
    const made = await joined(idctl, { ...settingsFor(slapd), groupsAttribute: 'memberOf' });
    ({ domain } = made);
    org = made.org.slug;
    orgId = made.org.id;
    uid = fresh('ada');
    dev = fresh('Dev Team ');
    await slapd.person(uid, { givenName: 'Ada', mail: `${uid}@${domain}` });
    await slapd.apply(
      `dn: cn=${dev},ou=groups,${suffix}\nobjectClass: groupOfNames\ncn: ${dev}\nmember: uid=${uid},ou=people,${suffix}\n`,
    );
    for (const name of ['One', 'Two']) await createProject(idctl.operator(), { org, name });
  });

  const map = (group: string, project: string, role: 'viewer' | 'member' | 'admin') =>
    addMapping(idctl.operator(), { org, group, project, role });
  const signIn = () => signInByLdap(idctl, { username: uid, org });
  /** Signs the person in, and returns the projects, each with its role and `synced`. */
  const projects = async () => {
    const client = idctl.client({ keepCookies: true });
    await client.post('/auth/ldap/login', { username: uid, org, password: 'Ada directory 1' });
    const { body } = await client.get('/api/v1/me');
    return body.organizations[0].projects.map(({ slug, role, synced }: Record<string, unknown>) => [
      slug,
      role,
      synced,
    ]);
  };
  const connection = () =>
    LdapConnection.findOne({ where: { organizationId: orgId }, rejectOnEmpty: true });

  test('match mappings by DN in any spelling and by common name; the membership stores its connection', async () => {
    await map(`CN=${dev.toUpperCase()}, OU=Groups,${suffix}`, 'one', 'member');
    await map(dev.toLowerCase(), 'two', 'viewer');
    await map(`cn=${dev},ou=others,${suffix}`, 'two', 'admin');
    expect(await projects()).toEqual([
      ['one', 'member', true],
      ['two', 'viewer', true],
    ]);
    const rows = await ProjectMembership.findAll({ where: { synced: true } });
    const { id } = await connection();
    expect(rows.filter(({ origin }) => origin.by === id)).toHaveLength(2);
    const { items } = await listEvents(idctl.operator(), {
      org,
      kind: 'ldap.groups.synced',
      limit: 9,
    });
    expect(items).toMatchObject([{ data: { adds: [{ role: 'member' }, { role: 'viewer' }] } }]);
  });

  test('change memberships that they gave, and remove none', async () => {
    const mapping = await map(dev, 'one', 'viewer');
    expect(await projects()).toEqual([['one', 'viewer', true]]);
    await map(dev, 'one', 'admin');
    expect(await projects()).toEqual([['one', 'admin', true]]);
    const other = await removeMapping(idctl.operator(), { org, id: mapping.id });
    expect(other.group).toBe(dev);
    await slapd.apply(`dn: cn=${dev},ou=groups,${suffix}\nchangetype: delete\n`);
    expect(await projects()).toEqual([['one', 'admin', true]]);
  });

  test('count together with the groups of single sign-on, which removes only its own roles while the directory is connected', async () => {
    await map(dev, 'one', 'viewer');
    await map('sso-devs', 'one', 'admin');
    await map('sso-devs', 'two', 'viewer');
    const { body } = await signIn();
    const accountId = body.user.id;
    expect(await roles(accountId)).toEqual({ one: 'viewer' });
    const sso = await singleSignOn(accountId);
    await sso.sync(['sso-devs']);
    expect(await roles(accountId)).toEqual({ one: 'admin', two: 'viewer' });
    // The groups of the last single sign-on still count at a sign-in through the directory.
    await signIn();
    expect(await roles(accountId)).toEqual({ one: 'admin', two: 'viewer' });
    await sso.sync([]);
    expect(await roles(accountId)).toEqual({ one: 'viewer' });
    // Once the directory's connection is removed, single sign-on removes its roles too.
    await removeLdap(idctl.operator(), { org });
    await sso.sync([]);
    expect(await roles(accountId)).toEqual({});
  });

  test('are known to the preview from the last sign-in, and match by the same rules', async () => {
    await map(dev, 'one', 'viewer');
    const user = `${uid}@${domain}`;
    const preview = (more: object = {}) =>
      previewMappings(idctl.operator(), { org, user, ...more });
    await signIn();
    expect(await preview()).toMatchObject({ adds: [], changes: [], removes: [] });
    await map(dev, 'one', 'admin');
    expect(await preview()).toMatchObject({
      changes: [{ project: { slug: 'one' }, from: 'viewer', role: 'admin', to: 'admin' }],
    });
    const given = await preview({ groups: [`CN=${dev},OU=groups,${suffix}`] });
    expect(given).toMatchObject({ changes: [{ role: 'admin' }] });
    expect(await preview({ groups: [] })).toMatchObject({ adds: [], changes: [], removes: [] });
  });

  test('are not read if the connection does not name an attribute for them', async () => {
    const { org: plain, domain: other } = await joined(idctl, settingsFor(slapd));
    const who = fresh('bob');
    await slapd.person(who, { mail: `${who}@${other}` });
    const { body } = await signInByLdap(idctl, { username: who, org: plain.slug });
    const [identity] = await Identity.findAll({ where: { accountId: body.user.id } });
    expect(identity).toMatchObject({ lastGroups: null, groupsSyncedAt: null });
  });

  async function roles(accountId: string): Promise<Record<string, string>> {
    const rows = await ProjectMembership.findAll({ where: { accountId }, include: 'project' });
    return Object.fromEntries(rows.map(({ project, role }) => [project.slug, role]).sort());
  }

  /**
   * Adds a single sign-on connection with autoRemove, linked to the person. `sync` applies groups as
   * a sign-in does.
   */
  async function singleSignOn(accountId: string) {
    const registered = {
      emailDomain: domain,
      issuer: 'https://idp.acme.test',
      clientId: 'c',
      clientSecret: 's',
      enabled: true,
    };
    await saveSso(idctl.operator(), saveSsoInput.parse({ org, ...registered, autoRemove: true }));
    const { SsoConnection } = await import('../../src/database/models/sso-connection.ts');
    const { id } = await SsoConnection.findOne({
      where: { organizationId: orgId },
      rejectOnEmpty: true,
    });
    const key = {
      connectionId: id,
      organizationId: orgId,
      issuer: registered.issuer,
      subject: uid,
    };
    const row = {
      ...key,
      accountId,
      kind: 'sso' as const,
      id: crypto.randomUUID(),
      linkedAt: new Date(),
    };
    await transaction(() => Identity.create(row));
    return {
      sync: (groups: string[]) =>
        syncGroups(idctl.operator(), id, accountId, { known: true, groups }),
    };
  }
});
