import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Session } from '../../src/database/models/session.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { selfSigned } from '../support/certificates.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { freePorts, portOf } from '../support/ports.ts';
import { result, startScriptedDirectory } from '../support/scripted-directory.ts';
import { directoryPassword, type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1', 'localhost'] } });
});
afterAll(() => idctl.close());

interface Step {
  name: string;
  ok: boolean;
  seen: string;
  hint?: string;
}

const names = ({ body }: Answer) => body.steps.map(({ name }: Step) => name);
const last = ({ body }: Answer): Step => body.steps.at(-1);
const whole = [
  'name',
  'connection',
  'TLS',
  'service bind',
  'base',
  'filter',
  'attributes',
  'sample entries',
];

describe.skipIf(counterpartMissing('slapd'))('interface page: POST …/ldap/test', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  /** A connected organization with a person in its directory. `ask` runs `ldap test` as its owner. */
  async function tester(more: Record<string, unknown> = {}) {
    const branch = `ou=${fresh('branch')},${suffix}`;
    await slapd.apply(`dn: ${branch}\nobjectClass: organizationalUnit\n`);
    const { org, domain } = await joined(idctl, {
      ...settingsFor(slapd),
      searchBase: branch,
      ...more,
    });
    const add = (uid: string, lines = `givenName: Ada\nsn: Byron\nmail: ${uid}@${domain}\n`) =>
      slapd.apply(
        `dn: uid=${uid},${branch}\nobjectClass: inetOrgPerson\ncn: ${uid}\nuserPassword: ${directoryPassword}\n${lines}`,
      );
    await add('ada');
    const admin = await signedIn(idctl, org.owner.email);
    const ask = (body?: object) => admin.post(`/api/v1/orgs/${org.slug}/ldap/test`, body);
    return { org, domain, branch, add, ask };
  }

  test('§4.2 L9 the stored connection passes every step, and the answer has the number of sample entries', async () => {
    const { ask, add } = await tester();
    expect(await ask()).toMatchObject({
      status: 200,
      body: {
        ok: true,
        entries: 1,
        message: 'The connection worked; 1 sample entry was returned.',
      },
    });
    await add('bob');
    const answer = await ask();
    expect(answer.body).toMatchObject({ ok: true, entries: 2 });
    expect(answer.body.message).toBe('The connection worked; 2 sample entries were returned.');
    expect(names(answer)).toEqual(whole);
    const until = new Date(new X509Certificate(slapd.ca).validTo).toISOString().slice(0, 10);
    expect(answer.body.steps[2].seen).toBe(`a trusted certificate, valid until ${until}`);
  });

  test('§4.2 a large directory is sampled, not read whole', async () => {
    const { ask, add } = await tester();
    for (let at = 0; at < 11; at += 1) await add(`u${at}`);
    expect((await ask()).body).toMatchObject({ ok: true, entries: 10 });
  });

  test('L9 each fault stops the test at its step, with a message and one thing to change', async () => {
    const { ask } = await tester();
    const [port] = await freePorts(1);
    const again = { bindPassword: service.bindPassword };
    const cases: [object, string, string][] = [
      [{ uri: 'ldaps://nobody.invalid', ...again }, 'name', 'cannot be resolved'],
      [{ uri: 'ldaps://10.0.0.1', ...again }, 'name', 'private address'],
      [{ uri: `ldaps://127.0.0.1:${port}`, ...again }, 'connection', 'refused the connection'],
      [{ caCertificate: null, ...again }, 'TLS', 'not trusted'],
      [{ bindPassword: 'wrong' }, 'service bind', 'the name or the password is refused'],
      [
        { bindDn: `cn=nobody,${suffix}`, ...again },
        'service bind',
        'the name or the password is refused',
      ],
      [
        { searchBase: `ou=nowhere,${suffix}` },
        'base',
        'does not exist, or the service account may not see it',
      ],
      [{ searchFilter: '(roomNumber={username})' }, 'filter', 'the filter matches no entry'],
      [{ username: 'nobody' }, 'filter', 'no entry matches the filter with this user name'],
      [{ emailAttribute: 'mailbox' }, 'attributes', 'nothing in mailbox'],
      [
        { givenNameAttribute: 'title', familyNameAttribute: 'l' },
        'attributes',
        'nothing in title, l',
      ],
    ];
    for (const [change, at, seen] of cases) {
      const answer = await ask(change);
      expect(answer).toMatchObject({ status: 200, body: { ok: false } });
      expect(last(answer)).toMatchObject({
        name: at,
        ok: false,
        seen: expect.stringContaining(seen),
      });
      expect(last(answer).hint).toMatch(/\S/);
      expect(names(answer)).toEqual(whole.slice(0, whole.indexOf(at) + 1));
      expect(answer.body.message).toBe(
        `Step ${whole.indexOf(at) + 1}, ${at}, failed: ${last(answer).seen}.`,
      );
    }
  });

  test('L9 a certificate for another name, or a port without TLS, fails the step TLS', async () => {
    const { ask } = await tester();
    const again = { bindPassword: service.bindPassword };
    const narrow = await startSlapd({ names: ['DNS:ldap.acme.test'] });
    onTestFinished(() => narrow.stop());
    const other = await ask({ uri: narrow.ldaps, caCertificate: narrow.ca, ...again });
    expect(last(other)).toMatchObject({
      name: 'TLS',
      seen: expect.stringContaining('for another name'),
    });
    const plain = await ask({ uri: slapd.ldap.replace('ldap:', 'ldaps:'), ...again });
    expect(last(plain)).toMatchObject({
      name: 'TLS',
      seen: expect.stringContaining('does not speak TLS'),
    });
  });

  test('L9 the test names an untrusted certificate and its issuer', async () => {
    const { ask } = await tester();
    const answer = await ask({ caCertificate: null, bindPassword: service.bindPassword });
    expect(last(answer)).toMatchObject({
      name: 'TLS',
      seen: '127.0.0.1 has a TLS certificate that is not trusted: that of "leaf 1", issued by "idctl test authority"',
      hint: expect.stringContaining('Give the authority that issued the certificate'),
    });
    const narrow = await startSlapd({ names: ['DNS:ldap.acme.test'] });
    onTestFinished(() => narrow.stop());
    const over = await ask({
      uri: narrow.ldap,
      caCertificate: null,
      bindPassword: service.bindPassword,
    });
    expect(last(over).seen).toContain('issued by "idctl test authority"');
    expect(narrow.log.join()).not.toMatch(/ BIND/);
  });

  test('L9 a missing base is named, with its deepest parent that exists and the LDAP result code', async () => {
    const { ask, branch } = await tester();
    const seenFor = async (searchBase: string) => last(await ask({ searchBase })).seen;
    expect(await seenFor(`ou=staff, ou=offices,${branch}`)).toBe(
      `ou=staff, ou=offices,${branch} does not exist, or the service account may not see it; its parent ${branch} exists (LDAP result code 32)`,
    );
    expect(await seenFor(`cn=a\\,b,${suffix}`)).toContain(`its parent ${suffix} exists`);
    expect(await seenFor('ou=people,dc=elsewhere,dc=test')).toBe(
      'ou=people,dc=elsewhere,dc=test does not exist, or the service account may not see it; none of its parents exists (LDAP result code 32)',
    );
  });

  test('L9 a refusal by the directory is shown with its LDAP result code', async () => {
    const { ask } = await tester();
    expect(last(await ask({ bindPassword: 'wrong' })).seen).toBe(
      'the name or the password is refused (LDAP result code 49)',
    );
    const password = await ask({ username: 'ada', password: 'wrong' });
    expect(last(password)).toMatchObject({
      name: 'password',
      seen: expect.stringMatching(/code 49\)$/),
    });
  });

  test('S10 a changed server, account, TLS mode or authority needs the bind password again; other values do not', async () => {
    const { ask, org } = await tester();
    // slapd writes the end of an earlier connection late.
    const connections = () => slapd.log.filter((line) => line.includes(' ACCEPT ')).length;
    const before = connections();
    for (const change of [
      { uri: slapd.ldap },
      { bindDn: `cn=x,${suffix}` },
      { caCertificate: null },
    ]) {
      expect(await ask(change)).toMatchObject({ status: 409, body: { code: 'secret_required' } });
    }
    expect(connections()).toBe(before);
    expect((await ask({ uri: slapd.ldap, bindPassword: service.bindPassword })).body.ok).toBe(true);
    expect(connections()).toBeGreaterThan(before);
    expect((await ask({ searchFilter: '(cn={username})' })).body.ok).toBe(true);
    const { get } = await signedIn(idctl, org.owner.email);
    expect((await get(`/api/v1/orgs/${org.slug}/ldap`)).body).toMatchObject({
      uri: slapd.ldaps,
      searchFilter: '(uid={username})',
    });
  });

  test('values that were never stored can be tested', async () => {
    const org = await organization(idctl);
    const admin = await signedIn(idctl, org.owner.email);
    const path = `/api/v1/orgs/${org.slug}/ldap/test`;
    expect(await admin.post(path, {})).toMatchObject({ status: 404 });
    const { bindPassword, ...rest } = settingsFor(slapd);
    expect(await admin.post(path, rest)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'bindPassword' }] },
    });
    expect(await admin.post(path, { ...rest, bindPassword, searchBase: suffix })).toMatchObject({
      status: 200,
    });
    const clear = { ...rest, bindPassword, uri: 'ldap://ldap.acme.test', tls: false };
    expect(await admin.post(path, clear)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'tls' }] },
    });
    expect(
      await admin.post(path, {
        ...rest,
        bindPassword,
        uri: 'ldap://127.0.0.1',
        tls: false,
        password: 'x',
      }),
    ).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'username' }] },
    });
  });

  test('a whole sign-in is tested, and does not leave an account or session', async () => {
    const { ask, org, domain } = await tester();
    const count = async () => [
      await Account.count(),
      await Identity.count(),
      await Membership.count(),
      await Session.count(),
      await Event.count(),
    ];
    const before = await count();
    const right = await ask({ username: 'ada', password: directoryPassword });
    expect(right.body).toMatchObject({
      ok: true,
      message: 'The connection worked; 1 sample entry was returned. The person could sign in.',
    });
    expect(names(right)).toEqual([...whole, 'password', 'e-mail', 'account']);
    const wrong = await ask({ username: 'ada', password: 'wrong' });
    expect(last(wrong)).toMatchObject({ name: 'password', ok: false });
    expect(JSON.stringify(wrong.body)).not.toContain('The person would');
    expect(await count()).toEqual(before);
    await signInByLdap(idctl, { username: 'ada', org: org.slug });
    await removeMember(idctl.operator(), { org: org.slug, user: `ada@${domain}` });
    const gone = await ask({ username: 'ada', password: directoryPassword });
    expect(last(gone)).toMatchObject({
      name: 'account',
      ok: false,
      seen: 'the person was removed from the organization',
    });
  });

  test('the test fails for an address on no verified domain, or an address of another entry’s account', async () => {
    const { ask, add, org, domain } = await tester();
    await add('bob', `givenName: Bob\nsn: B\nmail: bob@elsewhere.test\n`);
    const foreign = await ask({ username: 'bob', password: directoryPassword });
    expect(last(foreign)).toMatchObject({
      name: 'e-mail',
      ok: false,
      seen: expect.stringContaining('verified'),
    });
    await signInByLdap(idctl, { username: 'ada', org: org.slug });
    await add('eve', `givenName: Eve\nsn: E\nmail: ada@${domain}\n`);
    const second = await ask({ username: 'eve', password: directoryPassword });
    expect(last(second)).toMatchObject({
      name: 'account',
      ok: false,
      seen: expect.stringContaining('another entry'),
    });
  });

  test('if no sample entry has the groups attribute, the test adds a note and passes', async () => {
    const { ask } = await tester({ groupsAttribute: 'memberOf' });
    const answer = await ask();
    expect(answer.body.ok).toBe(true);
    expect(answer.body.steps[6].hint).toContain('None of these entries has memberOf');
  });

  test('members cannot run the test, and no answer contains a password or the DN of an entry', async () => {
    const { ask, org } = await tester();
    const { email } = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    const member = await signedIn(idctl, email);
    expect(await member.post(`/api/v1/orgs/${org.slug}/ldap/test`, {})).toMatchObject({
      status: 403,
    });
    const canary = 'a canary of a password';
    const answer = await ask({
      username: 'ada',
      password: canary,
      bindPassword: service.bindPassword,
    });
    expect(JSON.stringify(answer.body)).not.toMatch(
      new RegExp(`${canary}|${service.bindPassword}|uid=ada`),
    );
  });
});

test('L9 the test shows why Active Directory refused the service account, such as an expired password', async () => {
  const data = '532';
  const said = `80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data ${data}, v1db1`;
  const directory = await startScriptedDirectory((request) => result(request, 49, said));
  onTestFinished(() => directory.stop());
  const org = await organization(idctl);
  const admin = await signedIn(idctl, org.owner.email);
  const answer = await admin.post(`/api/v1/orgs/${org.slug}/ldap/test`, {
    uri: directory.uri,
    tls: false,
    bindDn: 'svc@corp.test',
    bindPassword: 'x',
    searchBase: 'dc=corp,dc=test',
    searchFilter: '(sAMAccountName={username})',
    emailAttribute: 'mail',
  });
  expect(last(answer)).toMatchObject({
    name: 'service bind',
    seen: 'the password has expired (LDAP result code 49)',
  });
  expect(answer.body.steps[2]).toMatchObject({
    name: 'TLS',
    seen: 'none: this connection has no TLS',
  });
  expect(JSON.stringify(answer.body)).not.toContain('AcceptSecurityContext');
});

/** Returns what `ldap test` sees at a server with a self-signed certificate for this name. */
async function seenOf(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-certificate-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { certFile, keyFile } = await selfSigned(folder, name);
  const server = createServer({ cert: await readFile(certFile), key: await readFile(keyFile) });
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const org = await organization(idctl);
  const admin = await signedIn(idctl, org.owner.email);
  const uri = `ldaps://localhost:${portOf(server)}`;
  const settings = { ...settingsFor({ ldaps: uri, ca: '' }), caCertificate: null };
  return last(await admin.post(`/api/v1/orgs/${org.slug}/ldap/test`, settings)).seen;
}

test.each([
  ['plain text', 'Acme "Root" CA', 'that of "Acme \\"Root\\" CA", issued by itself'],
  [
    'a text direction override',
    'Acme \u202egnp.exe',
    'that of a name with hidden characters, issued by itself',
  ],
  [
    'a cursor sequence',
    'Acme \u001b[2J',
    'that of a name with hidden characters, issued by itself',
  ],
])(
  'L9 X9 the test names the issuer of an untrusted certificate safely: %s',
  async (_what, name, said) => {
    expect(await seenOf(name)).toBe(`localhost has a TLS certificate that is not trusted: ${said}`);
  },
);
