import { randomBytes } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Domain } from '../../src/database/models/domain.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { testLdap } from '../../src/services/signin/methods/ldap/test.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { changeLdap, disableLdap, removeLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, organization, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { freePorts } from '../support/ports.ts';
import {
  entry,
  type Request,
  result,
  type Script,
  startScriptedDirectory,
} from '../support/scripted-directory.ts';
import { directoryPassword, type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';

// OpenLDAP runs with `allow bind_anon_dn`. By default, it would refuse an empty password itself.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    limits: { addressFailures: 1_000_000 },
  });
});
afterAll(() => idctl.close());

const failed = { status: 401, body: { code: 'signin_failed' }, cookies: [] };
const spoken = { tls: false, caCertificate: null, ...service, searchBase: suffix };
const plain = (uri: string) => ({
  ...spoken,
  uri,
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
});

/** An answer without the parts that differ from one request to the next. */
function seen({ status, body, headers, cookies }: Answer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, body: { ...body, requestId: '' }, headers: rest, cookies };
}

/** The reasons of the organization's refused sign-ins, each with its count. */
async function reasons(org: string, kind = 'ldap.signin.refused') {
  const { items } = await listEvents(idctl.operator(), { org, kind, limit: 200 });
  return items.map(({ data }) => [data['reason'], data['count']]);
}

async function scripted(script: Script) {
  const directory = await startScriptedDirectory(script);
  onTestFinished(() => directory.stop());
  return directory;
}

/** Accepts every bind, and answers every search with one person with this address. */
const welcoming =
  (mail: string, dn = `uid=ada,${suffix}`): Script =>
  (request: Request) =>
    request.kind === 'search'
      ? Buffer.concat([entry(request, dn, { mail: [mail], entryUUID: [dn] }), result(request)])
      : result(request);

describe.skipIf(counterpartMissing('slapd'))('against OpenLDAP', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd({ global: 'allow bind_anon_dn' });
  });
  afterAll(() => slapd?.stop());

  const connections = async () =>
    (await slapd.wholeLog()).filter((line) => line.includes(' ACCEPT ')).length;

  test('L2 an empty, missing, NUL, too long or non-text password is refused without a bind', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('ada');
    await slapd.person(uid, { givenName: 'Ada', mail: `${uid}@${domain}` });
    for (const password of ['', undefined, null, ['x'], {}, 'a\0b', '\0', 'x'.repeat(1025)]) {
      const answer = await signInByLdap(idctl, { username: uid, password, org: org.slug });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' }, cookies: [] });
    }
    expect((await slapd.wholeLog()).join('\n')).not.toContain(`BIND dn="uid=${uid},`);
    expect(await signInByLdap(idctl, { username: uid, org: org.slug })).toMatchObject({
      status: 200,
    });
  });

  test('L3 a user name is one value of the filter and nothing else', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('ada');
    await slapd.person(uid, { mail: `${uid}@${domain}` });
    const cases = [
      ['*', '(uid=\\2A)'],
      [`${uid.slice(0, 3)}*`, `(uid=${uid.slice(0, 3)}\\2A)`],
      [')(uid=*))(|(uid=*', '(uid=\\29\\28uid=\\2A\\29\\29\\28|\\28uid=\\2A)'],
      ['\\2a', '(uid=\\5C2a)'],
      ['jürgen', 'uid=j'],
      [`${uid})(objectClass=*`, `(uid=${uid}\\29\\28objectClass=\\2A)`],
    ] as const;
    for (const [username, filter] of cases) {
      const from = (await slapd.wholeLog()).length;
      expect(await signInByLdap(idctl, { username, org: org.slug })).toMatchObject(failed);
      const told = async () => (await slapd.wholeLog()).slice(from);
      await expect.poll(async () => (await told()).join('\n')).toContain('nentries=0');
      const said = await told();
      const searched = said.filter((line) => / SRCH base=/.test(line));
      expect(searched).toHaveLength(1);
      expect(searched[0]?.toLowerCase()).toContain(filter.toLowerCase());
      expect(said.join('\n')).not.toContain('BIND dn="uid=');
    }
    const before = await connections();
    for (const username of ['a\0b', 'a'.repeat(10_240), 'a\nb', '']) {
      expect(await signInByLdap(idctl, { username, org: org.slug })).toMatchObject({ status: 400 });
    }
    expect(await connections()).toBe(before);
  });

  test('L4 if two entries match the filter, the sign-in is refused without a bind', async () => {
    const { org, domain } = await joined(idctl, {
      ...settingsFor(slapd),
      searchFilter: '(cn={username})',
    });
    const cn = fresh('twin');
    for (const at of [1, 2])
      await slapd.person(`${cn}-${at}`, { cn, mail: `${cn}${at}@${domain}` });
    expect(await signInByLdap(idctl, { username: cn, org: org.slug })).toMatchObject(failed);
    expect(await reasons(org.slug)).toEqual([['user_ambiguous', 1]]);
    expect((await slapd.wholeLog()).join('\n')).not.toContain(`BIND dn="uid=${cn}`);
  });

  test('L7 refused sign-ins get the same answer for every reason, byte for byte', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const other = await joined(idctl, settingsFor(slapd));
    const taken = fresh('taken');
    const [ada, mute, gone, off] = [fresh('ada'), fresh('mute'), fresh('gone'), fresh('off')];
    await slapd.person(ada, { mail: `${ada}@${domain}` });
    await slapd.person(mute, {});
    await slapd.person(taken, { mail: `${taken}@elsewhere.test` });
    for (const uid of [gone, off]) {
      await slapd.person(uid, { mail: `${uid}@${domain}` });
      const { body } = await signInByLdap(idctl, { username: uid, org: org.slug });
      if (uid === off) await disableUser(idctl.operator(), { user: body.user.id });
      else await removeMember(idctl.operator(), { org: org.slug, user: body.user.id });
    }
    const change = (more: object) => changeLdap(idctl.operator(), { org: other.org.slug, ...more });
    const told = [
      await signInByLdap(idctl, { username: 'nobody', org: org.slug }),
      await signInByLdap(idctl, { username: ada, org: org.slug, password: 'wrong' }),
      await signInByLdap(idctl, { username: mute, org: org.slug }),
      await signInByLdap(idctl, { username: taken, org: org.slug }),
      await signInByLdap(idctl, { username: gone, org: org.slug }),
      await signInByLdap(idctl, { username: off, org: org.slug }),
      await signInByLdap(idctl, { username: ada, org: 'no-such-organization' }),
    ];
    await change({ bindPassword: 'wrong' });
    told.push(await signInByLdap(idctl, { username: ada, org: other.org.slug }));
    await change({ bindPassword: service.bindPassword, searchBase: `ou=nowhere,${suffix}` });
    told.push(await signInByLdap(idctl, { username: ada, org: other.org.slug }));
    for (const answer of told) expect(seen(answer)).toEqual(seen(told[0] ?? answer));
    expect(told[0]).toMatchObject(failed);
    const why = await reasons(org.slug);
    expect(why).toEqual([
      ['user_not_found', 1],
      ['credentials_refused', 1],
      ['email_missing', 1],
      ['email_domain_not_verified', 1],
      ['deactivated', 1],
      ['account_disabled', 1],
    ]);
    expect(await reasons(other.org.slug)).toEqual([
      ['service_bind_credentials_refused', 1],
      ['service_search_base_missing', 1],
    ]);
  });

  test('L8 after five refused attempts, in any spelling of the name, the directory is not asked again', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('ada');
    await slapd.person(uid, { mail: `${uid}@${domain}` });
    const spellings = [uid, uid.toUpperCase(), ` ${uid}`, `${uid}\u00ad`, uid];
    for (const username of spellings) {
      expect(
        await signInByLdap(idctl, { username, org: org.slug, password: 'wrong' }),
      ).toMatchObject(failed);
    }
    const asked = await connections();
    const locked = await signInByLdap(idctl, { username: uid, org: org.slug });
    expect(locked).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(900);
    expect(await connections()).toBe(asked);
    idctl.wait(901);
    expect(await signInByLdap(idctl, { username: uid, org: org.slug })).toMatchObject({
      status: 200,
    });
  });

  test('L8 parallel guesses do not exceed the limit, and a right password does not count', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('ada');
    await slapd.person(uid, { mail: `${uid}@${domain}` });
    for (let done = 0; done < 7; done += 1) {
      expect(await signInByLdap(idctl, { username: uid, org: org.slug })).toMatchObject({
        status: 200,
      });
    }
    const from = (await slapd.wholeLog()).length;
    const guess = () => signInByLdap(idctl, { username: uid, org: org.slug, password: 'wrong' });
    const answers = await Promise.all(Array.from({ length: 12 }, guess));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
    const binds = (await slapd.wholeLog())
      .slice(from)
      .filter((line) => line.includes(`BIND dn="uid=${uid},`) && line.includes('method'));
    expect(binds).toHaveLength(5);
  });

  test('L8 a sample sign-in of `ldap test` with a wrong password counts as an attempt', async () => {
    const { org, domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('ada');
    await slapd.person(uid, { givenName: 'Ada', mail: `${uid}@${domain}` });
    const guess = (password: string) =>
      testLdap(idctl.operator(), { org: org.slug, username: uid, password });
    for (let done = 0; done < 7; done += 1) expect((await guess(directoryPassword)).ok).toBe(true);
    for (let done = 0; done < 5; done += 1) expect((await guess('wrong')).ok).toBe(false);
    await expect(guess('wrong')).rejects.toMatchObject({ code: 'too_many_requests' });
  });
});

describe('L1 exactly one directory', () => {
  test('L1 a sign-in does not send a byte to the directory of another organization', async () => {
    const [one, two] = [
      await scripted(welcoming('x@y.test')),
      await scripted(welcoming('x@y.test')),
    ];
    const first = await joined(idctl, plain(one.uri));
    const second = await joined(idctl, plain(two.uri));
    await signInByLdap(idctl, { username: 'ada', org: first.org.slug });
    await signInByLdap(idctl, { username: `ada@${first.domain}` });
    await signInByLdap(idctl, { username: 'ada', org: first.org.id });
    expect(one.requests.length).toBeGreaterThan(0);
    expect(two.received()).toBe(0);
    const before = one.received();
    await signInByLdap(idctl, { username: `Ada@${second.domain.toUpperCase()}` });
    expect(one.received()).toBe(before);
    expect(two.received()).toBeGreaterThan(0);
    const unclear = await signInByLdap(idctl, { username: 'ada' });
    expect(unclear).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'org', message: 'is required' }] },
    });
    expect(one.received()).toBe(before);
  });

  test('L1 the password for an address goes only to the directory of the organization that owns its domain', async () => {
    const directory = await scripted(welcoming('x@y.test'));
    await joined(idctl, plain(directory.uri));
    const { slug } = await organization(idctl);
    const domain = await verifiedDomain(idctl, slug);
    expect(await signInByLdap(idctl, { username: `ada@${domain}` })).toMatchObject(failed);
    expect(directory.received()).toBe(0);
  });

  test('L1 the directory of a disabled connection is not asked', async () => {
    const directory = await scripted(welcoming('x@y.test'));
    const { org } = await joined(idctl, { ...plain(directory.uri), enabled: false });
    expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject(failed);
    expect(directory.received()).toBe(0);
  });
});

describe('L4 L6 I2 entries of a directory', () => {
  test('L4 idctl does not bind with an entry outside the search base', async () => {
    const directory = await scripted(welcoming('x@y.test', 'uid=ada,dc=elsewhere,dc=test'));
    const { org } = await joined(idctl, plain(directory.uri));
    expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject(failed);
    expect(directory.requests.filter(({ kind }) => kind === 'bind')).toHaveLength(1);
    expect(await reasons(org.slug)).toEqual([['dn_outside_base', 1]]);
  });

  test('L6 the entry’s first address on a verified domain of the organization is used; without such an address, the sign-in is refused', async () => {
    const rival = await organization(idctl);
    const foreign = await verifiedDomain(idctl, rival.slug);
    const mails: string[] = [];
    const directory = await scripted((request) =>
      request.kind === 'search'
        ? Buffer.concat([
            entry(request, `uid=ada,${suffix}`, { mail: mails, entryUUID: ['u-1'] }),
            result(request),
          ])
        : result(request),
    );
    const { org, domain } = await joined(idctl, plain(directory.uri));
    const signIn = () => signInByLdap(idctl, { username: 'ada', org: org.slug });
    mails.push(`ada@${foreign}`, `ada@sub.${domain}`, 'ada@unknown.test');
    expect(await signIn()).toMatchObject(failed);
    mails.push(`Ada@${domain}`, `second@${domain}`);
    expect(await signIn()).toMatchObject({
      status: 200,
      body: { user: { email: `ada@${domain}` } },
    });
  });

  test('L6 I2 even a known entry can sign in only while one of its addresses is on a verified domain', async () => {
    const mails: string[] = [];
    const directory = await scripted((request) =>
      request.kind === 'search'
        ? Buffer.concat([
            entry(request, `uid=ada,${suffix}`, { mail: mails, entryUUID: ['u-2'] }),
            result(request),
          ])
        : result(request),
    );
    const { org, domain } = await joined(idctl, plain(directory.uri));
    const signIn = () => signInByLdap(idctl, { username: 'ada', org: org.slug });
    mails.push(`${fresh('ada')}@${domain}`);
    const { body } = await signIn();
    await removeDomain(idctl.operator(), { org: org.slug, domain });
    expect(await signIn()).toMatchObject(failed);
    expect(await reasons(org.slug)).toEqual([['email_domain_not_verified', 1]]);
    // An address on another verified domain is enough. The key stays until another organization
    // verifies the first domain (I2).
    mails.push(`${fresh('ada')}@${await verifiedDomain(idctl, org.slug)}`);
    expect((await signIn()).body.user.id).toBe(body.user.id);
    await verifiedDomain(idctl, (await organization(idctl)).slug, domain);
    expect((await signIn()).body.user).toMatchObject({ email: mails[1] });
  });

  test('S10 the bind password goes only to the server, account, TLS mode and authority it was entered for', async () => {
    const { org } = await joined(idctl, plain('ldap://127.0.0.1:1'));
    const given = { org: org.slug };
    const ca = rootCertificates[0] ?? '';
    for (const change of [
      { uri: 'ldap://127.0.0.1:2' },
      { bindDn: 'cn=other,dc=acme,dc=test' },
      { tls: true },
      { caCertificate: ca },
      { caCertificate: null },
    ]) {
      await expect(changeLdap(idctl.operator(), { ...given, ...change })).rejects.toMatchObject({
        code: 'secret_required',
      });
      const saved = await changeLdap(idctl.operator(), {
        ...given,
        ...change,
        bindPassword: 'again',
      });
      expect(saved).toMatchObject(change);
    }
    expect(
      await changeLdap(idctl.operator(), { ...given, searchBase: 'dc=other', bindPassword: '' }),
    ).toMatchObject({
      searchBase: 'dc=other',
      hasBindPassword: true,
    });
  });
});

describe('L7 L8 faults of the directory', () => {
  test('L8 a refused service account does not count as a person’s attempt, and is tried only five times', async () => {
    const directory = await scripted((request) => result(request, 49));
    const { org } = await joined(idctl, plain(directory.uri));
    for (let done = 0; done < 7; done += 1) {
      expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject(failed);
    }
    expect(await reasons(org.slug)).toEqual([
      ['service_bind_credentials_refused', 5],
      ['service_too_many_tries', 2],
    ]);
    expect(directory.requests).toHaveLength(5);
    // After the password is saved again, the directory is asked again.
    await changeLdap(idctl.operator(), { org: org.slug, bindPassword: service.bindPassword });
    await signInByLdap(idctl, { username: 'ada', org: org.slug });
    expect(directory.requests).toHaveLength(6);
  });

  test.each([
    ['switched off', (org: string) => disableLdap(idctl.operator(), { org })],
    ['changed', (org: string) => changeLdap(idctl.operator(), { org, searchBase: 'dc=test' })],
    ['removed', (org: string) => removeLdap(idctl.operator(), { org })],
  ])(
    'L7 a connection that is %s while the directory answers does not sign a person in',
    async (_, change) => {
      let meanwhile: Promise<unknown> = Promise.resolve();
      const found = { mail: '', org: '' };
      const directory = await scripted((request) => {
        if (request.kind === 'search') return welcoming(found.mail)(request);
        if (request.dn === service.bindDn) return result(request);
        meanwhile = change(found.org).finally(() => request.socket.write(result(request)));
        return undefined;
      });
      const { org, domain } = await joined(idctl, plain(directory.uri));
      Object.assign(found, { mail: `${fresh('ada')}@${domain}`, org: org.slug });
      expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject(failed);
      await meanwhile;
      expect(await Account.count({ where: { email: found.mail } })).toBe(0);
    },
  );
});

describe('L7 a directory that does not answer properly', () => {
  test('L7 causes an event and a 502 that hides the directory’s address, and does not count as an attempt', async () => {
    const [port] = await freePorts(1);
    const { org } = await joined(idctl, plain(`ldap://127.0.0.1:${port}`));
    for (let done = 0; done < 7; done += 1) {
      const answer = await signInByLdap(idctl, { username: 'ada', org: org.slug });
      expect(answer).toMatchObject({
        status: 502,
        body: { code: 'upstream_failed', detail: 'The directory could not be used.' },
        cookies: [],
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|reason/);
    }
    expect(await reasons(org.slug, 'ldap.directory.failed')).toEqual([['connection_refused', 7]]);
  });

  test('L7 S9 causes the same 502 if its address is refused', async () => {
    const { org } = await joined(idctl, { ...plain('ldap://[::1]:389') });
    expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject({
      status: 502,
      body: { code: 'upstream_failed' },
    });
    expect(await reasons(org.slug, 'ldap.directory.failed')).toEqual([['loopback', 1]]);
  });

  test('L5 does not delay other requests while it is silent', async () => {
    let talks = true;
    const silent = await scripted((request) => (talks ? result(request) : undefined));
    const { org } = await joined(idctl, plain(silent.uri));
    expect(await signInByLdap(idctl, { username: 'ada', org: org.slug })).toMatchObject(failed);
    talks = false;
    let ended = 0;
    const slow = Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const answer = await signInByLdap(idctl, { username: `u${at}`, org: org.slug });
        ended += 1;
        return answer.status;
      }),
    );
    expect((await idctl.client().get('/healthz')).status).toBe(200);
    expect(ended).toBe(0);
    // One after another, the sign-ins would exceed the time limit of a test.
    expect(await slow).toEqual(Array(20).fill(502));
  });
});

test('§4.2 Active Directory’s reason for a refusal is shown to the admins, and not to the person', async () => {
  let data = '';
  const said = () =>
    `80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data ${data}, v1db1`;
  const directory = await scripted((request) => {
    // Return another person each time: one person has only five attempts.
    if (request.kind === 'search') return welcoming('x@y.test', `uid=u${data},${suffix}`)(request);
    return request.dn === service.bindDn ? result(request) : result(request, 49, said());
  });
  const { org } = await joined(idctl, plain(directory.uri));
  const told: Answer[] = [];
  const codes = ['52e', '532', '533', '701', '773', '775'];
  for (data of codes) told.push(await signInByLdap(idctl, { username: `u${data}`, org: org.slug }));
  for (const answer of told) expect(seen(answer)).toEqual(seen(told[0] ?? answer));
  expect(await reasons(org.slug)).toEqual(
    [
      'wrong_password',
      'password_expired',
      'account_disabled',
      'account_expired',
      'must_change_password',
      'account_locked',
    ].map((reason) => [reason, 1]),
  );
});

describe('values of an entry', () => {
  const long = randomBytes(10_000).toString('hex');
  const dn = (name: string) => `uid=${name},${suffix}`;

  /** Signs in at a directory that returns this entry and answers its bind with this code. */
  async function answered(entryDn: string, attributes: Record<string, string[]>, code = 0) {
    const directory = await scripted((request: Request) =>
      request.kind === 'search'
        ? Buffer.concat([entry(request, entryDn, attributes), result(request)])
        : result(request, request.dn === entryDn ? code : 0),
    );
    const { org, domain } = await joined(idctl, plain(directory.uri));
    const mail = attributes['mail'] ?? [`${fresh('ada')}@${domain}`];
    attributes['mail'] = mail;
    const answer = await signInByLdap(idctl, { username: 'ada', org: org.slug });
    const { items } = await listEvents(idctl.operator(), { org: org.slug, limit: 200 });
    return { answer, size: JSON.stringify(items).length };
  }

  test.each([
    ['a DN of 20 KB', dn(long), {}],
    ['a bare NUL in the DN', dn('a\0b'), {}],
    ['an entryUUID of 20 KB', dn('ada'), { entryUUID: [long] }],
    ['an entryUUID with NUL', dn('ada'), { entryUUID: ['a\0b'] }],
  ])(
    'L4 L7 X5 %s leads to an ordinary failed sign-in, and does not fill the audit log',
    async (_, at, attributes) => {
      for (const code of [0, 49]) {
        const { answer, size } = await answered(at, { ...attributes }, code);
        expect(answer).toMatchObject(failed);
        expect(size).toBeLessThan(10_000);
      }
    },
  );

  test('L6 X5 thousands of addresses are not looked up one by one', async () => {
    let asked = 0;
    Domain.addHook('beforeFind', 'counting', () => {
      asked += 1;
    });
    onTestFinished(() => void Domain.removeHook('beforeFind', 'counting'));
    const mail = Array.from({ length: 5000 }, (_, at) => `ada@d${at}.elsewhere.test`);
    expect((await answered(dn('ada'), { mail })).answer).toMatchObject(failed);
    expect(asked).toBeLessThan(20);
  });
});
