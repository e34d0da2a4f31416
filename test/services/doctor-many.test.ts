import { afterEach, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { ScimGroup } from '../../src/database/models/scim-group.ts';
import { ScimRequest } from '../../src/database/models/scim-request.ts';
import { ScimToken } from '../../src/database/models/scim-token.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { transaction } from '../../src/database/transaction.ts';
import { checkOrganizations } from '../../src/services/instance/doctor/organization.ts';
import { showStatus } from '../../src/services/instance/status.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { disableSso } from '../../src/services/tenancy/sso/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { organization, person, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';
import { connected } from '../support/sso.ts';
import { countStatements } from '../support/statements.ts';

// status and doctor read for all organizations together, and give each one its own findings.

let idctl: Idctl;
afterEach(() => idctl.close());

type Owned = Awaited<ReturnType<typeof organization>>;

const all = () => Organization.findAll({ order: ['id'] });

/** The failed checks and the notes of an organization: what was seen, by the name of the check. */
async function saidOf({ slug }: { slug: string }): Promise<Record<string, string>> {
  const checks = await checkOrganizations(idctl.operator(), await all());
  const own = checks.filter(({ name }) => name.endsWith(` of ${slug}`));
  return Object.fromEntries(
    own.map(({ name, ok, message }) => [
      name.slice(0, -` of ${slug}`.length),
      `${ok ? 'ok' : 'fault'}: ${message}`,
    ]),
  );
}

/** Adds a SCIM token that was used, and requests with these statuses. */
async function scimUsed({ id, slug }: Owned, statuses: number[]) {
  await rotateScimToken(idctl.operator(), { org: slug });
  await transaction(async () => {
    const lastUsedAt = new Date('2026-01-02T03:04:05Z');
    await ScimToken.update({ lastUsedAt }, { where: { organizationId: id } });
    for (const status of statuses)
      await ScimRequest.create({
        id: orderedId(),
        organizationId: id,
        at: lastUsedAt,
        method: 'GET',
        path: `/Users/${status}`,
        status,
        reason: status < 400 ? null : `because ${status}`,
      });
  });
}

async function pushGroups({ id }: Owned, groups: { name: string; externalId?: string }[]) {
  const now = new Date();
  await transaction(async () => {
    for (const { name, externalId = null } of groups)
      await ScimGroup.create({
        id: orderedId(),
        organizationId: id,
        displayName: name,
        displayNameCanonical: name.toLowerCase(),
        externalId,
        version: 1,
        createdAt: now,
        modifiedAt: now,
      });
  });
}

async function mapGroups({ slug }: Owned, groups: string[]) {
  for (const group of groups)
    await addMapping(idctl.operator(), { org: slug, group, orgRole: 'member' });
}

/** Takes every way to sign in from an account. */
function strand(accountId: string) {
  return transaction(() =>
    Account.update({ passwordHash: null, email: null }, { where: { id: accountId } }),
  );
}

/** Adds owners with these names who have no way to sign in. */
async function strandedOwners({ slug }: Owned, names: string[]) {
  for (const name of names) {
    const { id, email } = await person(idctl);
    await addMember(idctl.operator(), { org: slug, email: email ?? '', role: 'owner' });
    await strand(id);
    await transaction(() => Account.update({ name }, { where: { id } }));
  }
}

/** Organizations with different faults, and those without one in between. */
async function prepare() {
  const operator = () => idctl.operator();
  const unused = await organization(idctl);
  await rotateScimToken(operator(), { org: unused.slug });
  const wrongToken = await organization(idctl);
  await scimUsed(wrongToken, [401]);
  await transaction(() =>
    ScimToken.update({ lastUsedAt: null }, { where: { organizationId: wrongToken.id } }),
  );
  const failing = await organization(idctl);
  await scimUsed(failing, [200, 404, 500]);
  const refused = await organization(idctl);
  await scimUsed(refused, [500, 404]);
  const suspended = await organization(idctl);
  await scimUsed(suspended, [200]);
  await transaction(() =>
    ScimToken.update({ suspendedAt: new Date() }, { where: { organizationId: suspended.id } }),
  );
  const sound = await organization(idctl);
  await scimUsed(sound, [500, 200]);
  await pushGroups(sound, [{ name: 'dev' }, { name: 'x', externalId: 'ops' }]);
  await mapGroups(sound, ['dev', 'ops']);
  const misspelled = await organization(idctl);
  await pushGroups(misspelled, [{ name: 'a' }]);
  await mapGroups(misspelled, ['a', 'b', 'c', 'd', 'e']);
  const elsewhere = await organization(idctl);
  await mapGroups(elsewhere, ['f']);
  const { org: federated } = await connected(idctl, 'https://idp.acme.test');
  await pushGroups(federated, [{ name: 'a' }]);
  await mapGroups(federated, ['g']);
  const hooked = await organization(idctl);
  const ids: string[] = [];
  for (const path of ['one', 'two', 'three']) {
    const url = `https://hooks.test/${path}`;
    ids.push((await addWebhook(operator(), { org: hooked.slug, url, events: ['*'] })).id);
  }
  const since = new Date('2026-02-03T04:05:06Z');
  await transaction(async () => {
    const where = { id: ids.slice(1) };
    await Webhook.update({ failingSince: since, enabled: false }, { where });
  });
  const halfOff = await organization(idctl);
  for (const path of ['one', 'two']) {
    const url = `https://hooks.test/${path}`;
    ids.push((await addWebhook(operator(), { org: halfOff.slug, url, events: ['*'] })).id);
  }
  await transaction(() => Webhook.update({ enabled: false }, { where: { id: ids.slice(-1) } }));
  const ungoverned = await organization(idctl);
  await changeSignInSettings(operator(), { org: ungoverned.slug, password: false });
  const governed = await organization(idctl);
  await verifiedDomain(idctl, governed.slug);
  await changeSignInSettings(operator(), { org: governed.slug, password: false });
  const ownerless = await organization(idctl);
  await disableUser(operator(), { user: ownerless.owner.id });
  const stranded = await organization(idctl);
  await strandedOwners(stranded, ['Eve', 'Fay', 'Gus', 'Hal']);
  const oneStranded = await organization(idctl);
  await strandedOwners(oneStranded, ['Ivy']);
  const { org: guarded } = await connected(idctl, 'https://idp.guarded.test');
  await withIdentity(guarded, { totpEnabledAt: new Date() });
  const { org: open } = await connected(idctl, 'https://idp.open.test');
  await withIdentity(open, {});
  for (const { slug } of [federated, guarded, open]) await disableSso(operator(), { org: slug });
  return {
    unused,
    wrongToken,
    failing,
    refused,
    suspended,
    sound,
    misspelled,
    elsewhere,
    federated,
    hooked,
    halfOff,
    ungoverned,
    governed,
    ownerless,
    stranded,
    oneStranded,
    guarded,
    open,
  };
}

/** Links the owner to the connection of the organization. */
async function withIdentity({ id, owner }: Owned, account: { totpEnabledAt?: Date }) {
  const connection = await SsoConnection.findOne({
    where: { organizationId: id },
    rejectOnEmpty: true,
  });
  await transaction(async () => {
    await Account.update(account, { where: { id: owner.id } });
    await Identity.create({
      id: orderedId(),
      accountId: owner.id,
      kind: 'sso',
      connectionId: connection.id,
      organizationId: id,
      issuer: connection.issuer,
      subject: owner.id,
      server: null,
      linkedAt: new Date(),
      lastGroups: null,
      groupsSyncedAt: null,
      knownGroups: null,
    });
  });
}

test('doctor gives each of several organizations its own findings, as for one organization alone', async () => {
  idctl = await openIdctl();
  const site = await prepare();
  const fine = { owners: 'ok: 1 active owner' };
  const last = 'last called at 2026-01-02T03:04:05Z';
  const disabled = (issuer: string) => ({ 'single sign-on': `ok: ${issuer}, not enabled` });
  const seen: Record<string, Record<string, string>> = {};
  for (const [name, org] of Object.entries(site)) seen[name] = await saidOf(org);
  const base = `${idctl.baseUrl}/scim/v2/orgs`;
  expect(seen).toEqual({
    unused: { ...fine, SCIM: `fault: no call with this token yet at ${base}/${site.unused.id}` },
    wrongToken: {
      ...fine,
      SCIM: `fault: no call with this token yet at ${base}/${site.wrongToken.id}, but one with a wrong token at 2026-01-02T03:04:05Z`,
    },
    failing: { ...fine, SCIM: 'fault: the last call failed: GET /Users/500: 500, because 500' },
    refused: { ...fine, SCIM: `ok: ${last}` },
    suspended: { ...fine, SCIM: 'fault: suspended: the token comes from a backup' },
    sound: { ...fine, SCIM: `ok: ${last}`, 'group mappings': 'ok: 2 groups' },
    misspelled: {
      ...fine,
      'group mappings': 'fault: SCIM does not push "b", "c", "d" and more',
    },
    elsewhere: fine,
    federated: { ...fine, ...disabled('https://idp.acme.test') },
    hooked: {
      ...fine,
      webhooks:
        'fault: https://hooks.test/two: every attempt since 2026-02-03T04:05:06Z has failed. The webhook is disabled',
    },
    halfOff: { ...fine, webhooks: 'ok: 1 in use, 1 disabled' },
    ungoverned: {
      ...fine,
      'sign-in':
        'fault: its settings do not apply to any account: the organization has no verified domain, and it is not the only organization',
    },
    governed: { ...fine, 'sign-in': 'ok: its settings apply' },
    ownerless: { owners: 'fault: This organization has no active owner.' },
    stranded: { owners: 'fault: no way to sign in for Eve, Fay, Gus, …' },
    oneStranded: { owners: 'fault: no way to sign in for Ivy' },
    guarded: {
      ...fine,
      ...disabled('https://idp.guarded.test'),
      'second factor of owners': `ok: required from ${site.guarded.owner.email}`,
    },
    open: { ...fine, ...disabled('https://idp.open.test') },
  });
  const together = await checkOrganizations(idctl.operator(), await all());
  const alone = [];
  for (const one of await all()) alone.push(...(await checkOrganizations(idctl.operator(), [one])));
  expect(together).toEqual(alone);
  const faults = together.filter(({ ok }) => !ok).map(({ name, message }) => `${name}: ${message}`);
  expect((await showStatus(idctl.operator(), { idle: true })).problems.slice(1)).toEqual(faults);
});

test('doctor counts and judges more owners than one query reads, also where a query ends within an organization', async () => {
  idctl = await openIdctl();
  const [first, crowded, last] = [
    await organization(idctl),
    await organization(idctl),
    await organization(idctl),
  ];
  const rows = Array.from({ length: 1203 }, (_, at) => ({
    id: orderedId(),
    name: `Owner ${at}`,
    email: at % 400 === 399 ? null : `${crowded.slug}-${at}@d${at}.test`,
    passwordHash: at % 400 === 399 ? null : 'any',
    emailProof: 'operator' as const,
    createdAt: new Date(),
  }));
  await transaction(async () => {
    await Account.bulkCreate(rows);
    await Membership.bulkCreate(
      rows.map(({ id: accountId }) => ({
        organizationId: crowded.id,
        accountId,
        role: 'owner' as const,
        origin: { kind: 'operator' as const },
        joinedAt: new Date(),
      })),
    );
  });
  const owners = async (org: Owned) => (await saidOf(org))['owners'];
  expect(await owners(first)).toBe('ok: 1 active owner');
  expect(await owners(crowded)).toBe(
    'fault: no way to sign in for Owner 399, Owner 799, Owner 1199',
  );
  expect(await owners(last)).toBe('ok: 1 active owner');
  await transaction(() =>
    Account.update({ passwordHash: 'any' }, { where: { id: rows.map(({ id }) => id) } }),
  );
  expect(await owners(crowded)).toBe('ok: 1204 active owners');
});

test.skipIf(sqliteDriver === 'sqlite3')(
  'the number of statements of status and doctor does not grow with the number of organizations',
  async () => {
    idctl = await openIdctl();
    const count = async () => [
      await countStatements(async () => showStatus(idctl.operator(), { idle: true })),
      await countStatements(async () => checkOrganizations(idctl.operator(), await all())),
    ];
    await prepare();
    await count();
    const before = await count();
    await prepare();
    await prepare();
    expect(await all()).toHaveLength(54);
    expect(await count()).toEqual(before);
    expect(Math.max(...before)).toBeLessThan(45);
  },
);
