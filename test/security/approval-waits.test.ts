import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { checkOrganizations } from '../../src/services/instance/doctor/organization.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, person, signedIn } from '../support/builders.ts';
import { main, surroundings } from '../support/daemon.ts';
import { exported } from '../support/documents.ts';
import { hintLike } from '../support/hints.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { settingsFor } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { keepPasskey } from '../support/passkeys.ts';
import { freePorts } from '../support/ports.ts';
import { type Slapd, startSlapd } from '../support/slapd.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { tokenOf } from '../support/tokens.ts';
import { typeLine } from '../support/typing.ts';

// The commands that say that a connection is waiting for an owner's approval (security I8).

let idctl: Idctl;
let provider: OpenIdProvider;
let slapd: Slapd;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1', 'localhost'] } });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
  slapd = await startSlapd();
});
afterAll(async () => {
  await idctl.close();
  await Promise.all([provider.stop(), slapd.stop()]);
});

/** An organization with both connections, which its owner approves or not. */
async function site(approved: boolean) {
  const { org, domain } = await connected(idctl, provider.issuer);
  const uid = fresh('olga');
  await slapd.person(uid, { mail: `${uid}@${domain}` });
  const settings = {
    org: org.slug,
    enabled: true,
    givenNameAttribute: 'cn',
    ...settingsFor(slapd),
  };
  await saveLdap(idctl.operator(), saveLdapInput.parse(settings));
  const where = { organizationId: org.id };
  await transaction(async () => {
    await SsoConnection.update({ approved }, { where });
    await LdapConnection.update({ approved }, { where });
  });
  return { org, domain, owner: await signedIn(idctl, org.owner.email) };
}

const doctor = async ({ id }: { id: string }) =>
  checkOrganizations(idctl.operator(), [await Organization.findByPk(id, { rejectOnEmpty: true })]);

/** Runs idctl on the host of the instance, in another process. */
async function onHost(words: string[]) {
  const { database, keyFile, baseUrl } = idctl.app.config;
  const env = { IDCTL_DATABASE: database.url, IDCTL_KEY_FILE: keyFile, IDCTL_BASE_URL: baseUrl };
  const run = promisify(execFile);
  return (await run(process.execPath, [main, ...words], { env: { ...surroundings(), ...env } }))
    .stderr;
}

describe.each([
  ['sso', 'single sign-on', () => ({ issuer: provider.issuer })],
  ['ldap', 'directory', () => ({ uri: slapd.ldaps })],
] as const)('I8 a waiting connection: %s', (kind, called, draft) => {
  test('I8 the test names it in a step that is no fault, unless it tests other settings', async () => {
    const { org, owner } = await site(false);
    const path = `/api/v1/orgs/${org.slug}/${kind}/test`;
    const { body } = await owner.post(path);
    expect(body.ok).toBe(true);
    expect(body.steps.at(-1)).toMatchObject({
      name: 'approval',
      ok: true,
      seen: "is waiting for an owner's approval",
      hint: expect.stringContaining('An owner approves it on the account page.'),
      next: expect.arrayContaining([
        expect.objectContaining({ operation: `${kind}.approve`, with: { org: org.slug } }),
      ]),
    });
    const other = await owner.post(path, draft());
    expect(other.status).toBe(200);
    expect(other.body.steps.at(-1).name).not.toBe('approval');
    const approved = await site(true);
    const passed = await approved.owner.post(`/api/v1/orgs/${approved.org.slug}/${kind}/test`);
    expect(passed.body.steps.at(-1).name).not.toBe('approval');
  });

  test('I8 doctor names it as a note, also while it is switched off', async () => {
    const { org, owner } = await site(false);
    const find = async () =>
      (await doctor(org)).find(({ name }) => name === `${called} of ${org.slug}`);
    const note = {
      ok: true,
      message: expect.stringContaining("is waiting for an owner's approval"),
      hint: hintLike(`idctl ${kind} approve --org ${org.slug}`),
    };
    expect(await find()).toMatchObject(note);
    expect((await owner.post(`/api/v1/orgs/${org.slug}/${kind}/disable`)).status).toBe(200);
    expect(await find()).toMatchObject(note);
    const { org: other } = await site(true);
    expect(JSON.stringify(await doctor(other))).not.toContain('waits');
  });

  test('I8 the commands that change it note that it waits; --json shows it in a field', {
    timeout: 120_000,
  }, async () => {
    const { org } = await site(false);
    const { token } = await tokenOf(idctl, { user: org.owner.id, scope: 'admin' });
    const home = await mkdtemp(join(tmpdir(), 'idctl-waits-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const remotely = async (words: string[]) => {
      const env = { HOME: home, IDCTL_SERVER: idctl.baseUrl, IDCTL_TOKEN: token };
      const { exit, err } = await typeLine(words, env);
      expect([exit, err]).toEqual([0, err]);
      return err;
    };
    const [option, field] =
      kind === 'sso'
        ? ['--groups-claim', 'groupsClaim']
        : ['--groups-attribute', 'groupsAttribute'];
    const about = ['--org', org.slug, '--force'];
    const document = await exported(idctl.operator(), org.slug);
    const file = join(home, 'document.yaml');
    const changed = { ...Object(document[kind]), [field]: 'teams' };
    await writeFile(file, JSON.stringify({ ...document, [kind]: changed }));
    const note = `The connection is waiting for an owner's approval. Until then, no owner can sign in through it. An owner approves it on the account page. Or the operator approves it: idctl ${kind} approve --org ${org.slug}\n`;
    expect(await remotely([kind, 'set', ...about, option, 'roles'])).toContain(note);
    expect(await remotely([kind, 'enable', ...about])).toContain(note);
    expect(await onHost([kind, 'set', ...about, option, 'units'])).toContain(note);
    expect(await onHost([kind, 'enable', ...about])).toContain(note);
    expect(await remotely(['apply', '-f', file, '--yes'])).toContain(`Applied.\n${note}`);
    expect(await remotely([kind, 'enable', ...about, '--json'])).not.toContain('waits');
    await onHost([kind, 'approve', '--org', org.slug, '--yes']);
    expect(await remotely([kind, 'enable', ...about])).not.toContain('waits');
  });

  test('I8 doctor names it besides a fault of the connection', async () => {
    const { org } = await site(false);
    const [port] = await freePorts(1);
    const where = { organizationId: org.id };
    await transaction(async () => {
      await SsoConnection.update({ issuer: `http://127.0.0.1:${port}` }, { where });
      await LdapConnection.update({ uri: `ldaps://127.0.0.1:${port}` }, { where });
    });
    const found = (await doctor(org)).find(({ name }) => name === `${called} of ${org.slug}`);
    expect(found).toMatchObject({
      ok: false,
      message: expect.stringMatching(/failed: .+[^.], and it is waiting for an owner's approval$/),
    });
  });
});

test('I8 explain says that a connection is not approved, and that it refuses an owner', async () => {
  const { org, domain, owner } = await site(false);
  const [member, chief] = [`${fresh('ada')}@${domain}`, `${fresh('olga')}@${domain}`];
  for (const email of [member, chief]) await person(idctl, email);
  await addMember(idctl.operator(), { org: org.slug, email: member, role: 'member' });
  await addMember(idctl.operator(), { org: org.slug, email: chief, role: 'owner' });
  const ask = async (email: string) =>
    (await owner.get(`/api/v1/orgs/${org.slug}/explain?user=${encodeURIComponent(email)}`)).body;
  const waysOf = (body: { ways: { method: string }[] }) =>
    body.ways.filter(({ method }) => method === 'sso' || method === 'ldap');
  const rule = expect.stringContaining('but not approved');
  expect(waysOf(await ask(member))).toMatchObject([
    { method: 'sso', could: true, rule },
    { method: 'ldap', could: true, rule },
  ]);
  const refused = await ask(chief);
  expect(waysOf(refused)).toMatchObject([
    { method: 'sso', could: false },
    { method: 'ldap', could: false },
  ]);
  expect(refused.blocks).toMatchObject([
    {
      code: 'owner_not_approved',
      message: expect.stringContaining('An owner does it on the account page.'),
      next: expect.arrayContaining([
        expect.objectContaining({ operation: 'sso.approve', with: { org: org.slug } }),
      ]),
    },
  ]);
});

test('I8 doctor names the owners with a second factor who sign in by single sign-on', async () => {
  const { org, domain } = await site(true);
  const email = `${fresh('ada')}@${domain}`;
  provider.people.set(email, { email, email_verified: true, name: 'Ada' });
  const { answer } = await signInAt(idctl, provider, domain, email);
  const { id } = answer.body.user;
  const find = async () => (await doctor(org)).find(({ name }) => name.startsWith('second factor'));
  await keepPasskey(id);
  await transaction(() => Account.update({ hasPasskey: true }, { where: { id } }));
  expect(await find()).toBeUndefined();
  await changeMemberRole(idctl.operator(), { org: org.slug, user: email, role: 'owner' });
  expect(await find()).toMatchObject({
    ok: true,
    message: `required from ${email}`,
    hint: hintLike('idctl user totp-reset'),
  });
  await transaction(() => Account.update({ hasPasskey: false }, { where: { id } }));
  expect(await find()).toBeUndefined();
});
