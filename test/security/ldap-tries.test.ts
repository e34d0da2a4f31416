import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Refusal } from '../../src/errors.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { checkOrganizations } from '../../src/services/instance/doctor/organization.ts';
import { testLdap } from '../../src/services/signin/methods/ldap/test.ts';
import { changeLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { testLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, person } from '../support/builders.ts';
import { hintLike } from '../support/hints.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, signInByLdap } from '../support/ldap.ts';
import { freePorts } from '../support/ports.ts';
import {
  entry,
  result,
  type Script,
  startScriptedDirectory,
} from '../support/scripted-directory.ts';
import { directoryPassword, service, suffix } from '../support/slapd.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    limits: { addressFailures: 1_000_000 },
  });
});
afterAll(() => idctl.close());

/** A directory that finds the same person for every user name, and an organization that uses it. */
async function findingOne() {
  const dn = `uid=${fresh('ada')},${suffix}`;
  const found: { mail: string; uuid: string } = { mail: '', uuid: dn };
  const directory = await startScriptedDirectory((request) => {
    if (request.kind === 'search') {
      const attributes = {
        mail: [found.mail],
        givenName: ['Ada'],
        sn: ['B'],
        entryUUID: [found.uuid],
      };
      return Buffer.concat([entry(request, dn, attributes), result(request)]);
    }
    const right = [service.bindPassword, directoryPassword].includes(request.password);
    return result(request, right ? 0 : 49);
  });
  onTestFinished(() => directory.stop());
  const { org, domain } = await joined(idctl, {
    ...service,
    uri: directory.uri,
    tls: false,
    searchBase: suffix,
    searchFilter: '(|(uid={username})(mail={username}))',
    emailAttribute: 'mail',
  });
  found.mail = `${fresh('ada')}@${domain}`;
  const tried = () => directory.requests.filter((request) => request.dn === dn).length;
  const signIn = (username: string, password = directoryPassword) =>
    signInByLdap(idctl, { username, password, org: org.slug });
  const { email: another = '', ...second } = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: another ?? '', role: 'owner' });
  const test = async (given: object, ctx = as(org.owner)) => {
    const input = testLdapInput.parse({ org: org.slug, ...given });
    return testLdap(ctx, input).then(
      ({ steps }) => steps.find(({ ok }) => !ok)?.name ?? 'ok',
      (error: unknown) => (error instanceof Refusal ? error.code : error),
    );
  };
  const save = (given: object) => changeLdap(idctl.operator(), { org: org.slug, ...given });
  return {
    org: org.slug,
    owner: org.owner,
    second,
    uri: directory.uri,
    found,
    signIn,
    test,
    save,
    dn,
    tried,
  };
}

test('L8 one person has five attempts, whichever of their names is used', async () => {
  const { found, signIn, tried } = await findingOne();
  const answers = [];
  for (let at = 0; at < 8; at += 1) answers.push(await signIn(`alias-${at}`, 'wrong'));
  expect(tried()).toBe(5);
  // L7: even the sixth attempt does not reveal that the person exists.
  for (const { status, body } of answers)
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'signin_failed' });
  expect(await signIn('alias-9')).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  expect(tried()).toBe(5);
  found.uuid = fresh('another');
  expect(await signIn('alias-9', 'wrong')).toMatchObject({ status: 401 });
  expect(tried()).toBe(6);
});

test('X5 L8 an attempt over the limit is recorded with the person’s entry', async () => {
  const { org, dn, signIn } = await findingOne();
  for (let at = 0; at < 6; at += 1) await signIn(`alias-${at}`, 'wrong');
  const input = { org, kind: 'ldap.signin.refused' as const, limit: 10 };
  const { items } = await listEvents(idctl.operator(), input);
  expect(items.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ reason: 'too_many_tries', entry: dn }),
  );
});

test('L8 a right password does not count, under any name', async () => {
  const { signIn } = await findingOne();
  for (let at = 0; at < 8; at += 1)
    expect(await signIn(`alias-${at}`)).toMatchObject({ status: 200 });
});

test('L8 a wrong password in the connection test counts toward the person’s limit, whichever of their names is used', async () => {
  const { signIn, test, tried } = await findingOne();
  const answers = [];
  for (let at = 0; at < 7; at += 1)
    answers.push(await test({ username: `alias-${at}`, password: 'wrong' }, idctl.operator()));
  expect(answers).toEqual([...Array(5).fill('password'), ...Array(2).fill('too_many_requests')]);
  expect(tried()).toBe(5);
  expect(await signIn('alias-9')).toMatchObject({ status: 401 });
  expect(tried()).toBe(5);
});

/** The context of this account, signed in. */
function as({ id }: { id: string }): Context {
  const actor = {
    kind: 'user',
    accountId: id,
    name: 'Ada',
    via: 'session',
    sessionId: id,
  } as const;
  return { ...idctl.operator(), actor };
}

test('L8 wrong passwords in the connection test are limited per actor, over all organizations', async () => {
  const [one, two] = [await findingOne(), await findingOne()];
  await addMember(idctl.operator(), { org: two.org, email: one.owner.email ?? '', role: 'owner' });
  const answers = [];
  for (const { test } of [one, two])
    for (let at = 0; at < 3; at += 1)
      answers.push(await test({ username: `ada-${at}`, password: 'wrong' }, as(one.owner)));
  expect(answers).toEqual([...Array(5).fill('password'), 'too_many_requests']);
});

/** 15 minutes in seconds, less up to 30 seconds that the test itself may take. */
const aboutAQuarter = expect.toSatisfy((seconds) => seconds > 870 && seconds <= 900);

describe('L8 a bind password cannot be guessed', () => {
  const limited = async (org: string) =>
    (await listEvents(idctl.operator(), { org, kind: 'ldap.bind.limited', limit: 9 })).items;

  test('L8 an organization is limited to five wrong bind passwords, saved or not, in any spelling of the DN; right ones do not count', async () => {
    const { org, second, test, dn, tried, save, signIn } = await findingOne();
    for (let at = 0; at < 7; at += 1)
      expect(await test({ bindDn: service.bindDn, bindPassword: service.bindPassword })).toBe('ok');
    const answers = [];
    for (const bindDn of [
      dn,
      dn.replace('uid', '0.9.2342.19200300.100.1.1'),
      dn.replace('=', ' = '),
    ])
      answers.push(await test({ bindDn, bindPassword: 'wrong' }));
    expect(answers).toEqual(Array(3).fill('service bind'));
    const before = tried();
    for (let at = 0; at < 5; at += 1) {
      await save({ bindDn: dn, bindPassword: `guess ${at}` });
      // A saved password counts once, however often it is tried.
      for (let again = 0; again < 2; again += 1)
        expect(await signIn(`nobody-${at}-${again}`)).toMatchObject({ status: 401 });
      if (at < 2) expect(await test({})).toBe('service bind');
    }
    expect(tried() - before).toBe(2 * 3);
    expect(await test({}, as(second))).toBe('too_many_requests');
    expect(
      await test({ bindDn: service.bindDn, bindPassword: service.bindPassword }, as(second)),
    ).toBe('too_many_requests');
    expect(await limited(org)).toMatchObject([{ data: { bindDn: service.bindDn, count: 8 } }]);
    idctl.wait(900);
    await save({ bindDn: service.bindDn, bindPassword: service.bindPassword });
    expect(await signIn('ada')).toMatchObject({ status: 200 });
  });

  test('L8 parallel connection tests do not exceed the limit, and the refusal says when to try again', async () => {
    const { org, owner, dn, tried } = await findingOne();
    const refused = { bindDn: dn, bindPassword: 'wrong' };
    const input = testLdapInput.parse({ org, ...refused });
    for (let at = 0; at < 3; at += 1) await testLdap(as(owner), input);
    const all = await Promise.allSettled(
      Array.from({ length: 5 }, () => testLdap(as(owner), input)),
    );
    const turnedAway = all.filter(({ status }) => status === 'rejected');
    expect(turnedAway).toHaveLength(3);
    for (const one of turnedAway)
      expect(one).toMatchObject({
        reason: {
          code: 'too_many_requests',
          retryAfter: aboutAQuarter,
          hint: 'Try again in 15 minutes.',
        },
      });
    expect(tried()).toBe(5);
  });

  test('L8 a saved password counts when the directory refuses it, not while the directory is down', async () => {
    const { org, save, signIn, test } = await findingOne();
    const [port = 0] = await freePorts(1);
    for (let at = 0; at < 6; at += 1) {
      await save({ uri: `ldap://127.0.0.1:${port}`, bindPassword: `guess ${at}` });
      expect(await signIn('ada')).toMatchObject({ status: 502 });
      expect(await test({})).toBe('connection');
    }
    const directory = await startScriptedDirectory(
      (request) => result(request, 49),
      undefined,
      undefined,
      port,
    );
    onTestFinished(() => directory.stop());
    for (let at = 0; at < 7; at += 1) {
      expect(await signIn('ada')).toMatchObject({ status: 401 });
      await save({ bindPassword: `another ${at}` });
    }
    expect(directory.requests).toHaveLength(5);
    const { items } = await listEvents(idctl.operator(), {
      org,
      kind: 'ldap.signin.refused',
      limit: 9,
    });
    expect(items.map(({ data }) => data)).toMatchObject([
      { reason: 'service_bind_credentials_refused', count: 5 },
      { reason: 'service_too_many_tries', count: 2 },
    ]);
  });

  test('L8 one saved password counts once, however many people sign in at once', async () => {
    const { org, signIn, save, test } = await findingOne();
    await save({ bindPassword: 'wrong' });
    await Promise.all(Array.from({ length: 12 }, (_, at) => signIn(`ada ${at}`)));
    const { items } = await listEvents(idctl.operator(), {
      org,
      kind: 'ldap.signin.refused',
      limit: 9,
    });
    const counts = items.map(({ data }) => Number(data['count']));
    expect(counts.reduce((sum, count) => sum + count)).toBe(12);
    for (let at = 0; at < 4; at += 1)
      expect(await test({ bindPassword: `wrong ${at}` })).toBe('service bind');
    expect(await test({ bindPassword: service.bindPassword })).toBe('too_many_requests');
  });

  /** A directory whose answers the test sets, and an organization that uses it. */
  async function told() {
    const answers: { bind: Script; search: Script } = { bind: result, search: result };
    const directory = await startScriptedDirectory((request) =>
      request.kind === 'bind' ? answers.bind(request) : answers.search(request),
    );
    onTestFinished(() => directory.stop());
    const settings = { ...service, uri: directory.uri, tls: false, searchBase: suffix };
    const words = { searchFilter: '(uid={username})', emailAttribute: 'mail' };
    const { org } = await joined(idctl, { ...settings, ...words });
    const binds = () => directory.requests.filter(({ kind }) => kind === 'bind').length;
    const signIn = async () =>
      (await signInByLdap(idctl, { username: fresh('ada'), org: org.slug })).status;
    const tried = (given: object = {}, ctx = as(org.owner)) =>
      testLdap(ctx, testLdapInput.parse({ org: org.slug, ...given })).then(
        ({ steps }) => steps.find(({ ok }) => !ok)?.name ?? 'ok',
        (error: unknown) => (error instanceof Refusal ? error.code : error),
      );
    const save = (bindPassword: string) =>
      changeLdap(idctl.operator(), { org: org.slug, bindPassword });
    return { org, answers, binds, signIn, tried, save };
  }
  const no: Script = (request) => result(request, 49);
  const hiccups: Script[] = [
    (request) => result(request, 51),
    () => Buffer.from('no LDAP at all'),
    ({ socket }) => void socket.destroy(),
  ];

  test('L8 only the directory’s refusal of the bind counts', async () => {
    const { answers, signIn, tried, save } = await told();
    // First a password that the directory has accepted, then one that it has not seen yet.
    for (const password of [service.bindPassword, 'saved anew']) {
      if (password !== service.bindPassword) await save(password);
      else expect(await signIn()).toBe(401);
      for (const hiccup of [...hiccups, ...hiccups]) {
        Object.assign(answers, { bind: hiccup, search: result });
        expect(await signIn()).toBe(502);
        Object.assign(answers, { bind: result, search: hiccup });
        expect(await signIn()).toBe(502);
        expect(await tried({ bindPassword: 'given' })).toBe('service bind');
      }
      answers.search = result;
      expect(await tried()).toBe('base');
    }
  });

  test('L8 a burst of sign-ins with a wrong saved password causes only five binds', async () => {
    const { answers, signIn, save, binds } = await told();
    answers.bind = no;
    await save('wrong');
    await Promise.all(Array.from({ length: 25 }, signIn));
    expect(binds()).toBe(5);
  });

  test('L8 a bind password that one server accepted still counts if another refuses it', async () => {
    const { answers, signIn, tried, save } = await told();
    let heard = 0;
    const victim: Script = (request) => {
      heard += 1;
      return no(request);
    };
    const guess = async (at: number) => {
      answers.bind = result;
      await signIn();
      answers.bind = victim;
      if (at % 2 === 0) await signIn();
      else await tried();
    };
    for (let at = 0; at < 8; at += 1) await guess(at);
    expect(heard).toBe(5);
    idctl.wait(900);
    for (let at = 0; at < 8; at += 1) {
      await save(`guess ${at}`);
      await guess(at);
    }
    expect(heard).toBe(10);
  });

  test('L8 another organization resets neither the count of the actor nor that of the client address', async () => {
    const one = await told();
    const ctx = idctl.operator();
    const refused = async (from: Context, { answers, tried }: typeof one, times: number) => {
      answers.bind = no;
      for (let at = 0; at < times; at += 1)
        expect(await tried({ bindPassword: fresh('guess') }, from)).toBe('service bind');
      return tried({ bindPassword: fresh('guess') }, from);
    };
    const { owner } = one.org;
    expect(await refused(as(owner), one, 5)).toBe('too_many_requests');
    const two = await told();
    await addMember(ctx, { org: two.org.slug, email: owner.email ?? '', role: 'owner' });
    expect(await refused(as(owner), two, 0)).toBe('too_many_requests');
    const limits = { ...ctx.config.limits, addressFailures: 7 };
    const client = { address: '192.0.2.77', userAgent: null };
    const from = ({ org }: typeof one) => ({
      ...as(org.owner),
      client,
      config: { ...ctx.config, limits },
    });
    expect(await refused(from(two), two, 5)).toBe('too_many_requests');
    const three = await told();
    expect(await refused(from(three), three, 2)).toBe('too_many_requests');
  });

  test('L8 the operator can always test the connection, whatever was refused before', async () => {
    const { answers, binds, tried, org } = await told();
    answers.bind = no;
    for (let at = 0; at < 5; at += 1)
      expect(await tried({ bindPassword: `guess ${at}` })).toBe('service bind');
    expect(await tried({ bindPassword: 'one more' })).toBe('too_many_requests');
    const operator = idctl.operator();
    for (let at = 0; at < 8; at += 1) {
      expect(await tried({ bindPassword: `theirs ${at}` }, operator)).toBe('service bind');
      expect(await tried({}, operator)).toBe('service bind');
    }
    expect(binds()).toBe(5 + 16);
    expect(await tried({ bindPassword: 'one more' })).toBe('too_many_requests');
    // The operator's tests do not count towards the organization's limit.
    expect(await limited(org.slug)).toMatchObject([{ data: { count: 2 } }]);
  });

  test('L8 doctor has one limit of refused bind passwords for all organizations', async () => {
    let binds = 0;
    const directory = await startScriptedDirectory((request) => {
      if (request.kind === 'bind') binds += 1;
      return result(request, request.kind === 'bind' ? 49 : 0);
    });
    onTestFinished(() => directory.stop());
    const words = { searchBase: suffix, searchFilter: '(uid={username})', emailAttribute: 'mail' };
    // Let the operator's refusals in other tests expire.
    idctl.wait(900);
    const operator = idctl.operator();
    const limits = { ...operator.config.limits, addressFailures: 3 };
    const limited = { ...operator, config: { ...operator.config, limits } };
    const seen: (string | undefined)[] = [];
    for (let at = 0; at < 5; at += 1) {
      const guess = { ...service, bindPassword: fresh('guess'), uri: directory.uri, tls: false };
      const { org } = await joined(idctl, { ...guess, ...words });
      const made = await Organization.findByPk(org.id, { rejectOnEmpty: true });
      const checks = await checkOrganizations(limited, [made]);
      seen.push(checks.find(({ name }) => name.startsWith('directory'))?.message);
    }
    expect(binds).toBe(3);
    expect(seen.slice(3)).toEqual(
      Array(2).fill(
        'directories have refused 3 bind passwords; doctor tests the password again in 15 minutes',
      ),
    );
  });

  test('L8 doctor in a loop does not lock the service account, and says when it tests the password again', async () => {
    const { answers, binds, tried, save, org } = await told();
    answers.bind = no;
    const { id: organizationId } = org;
    const organizationNow = await Organization.findByPk(organizationId, { rejectOnEmpty: true });
    const doctor = async () => {
      const checks = await checkOrganizations(idctl.operator(), [organizationNow]);
      return checks.find(({ name }) => name.startsWith('directory'));
    };
    // Refusals in the organization's own tests do not stop doctor.
    for (let at = 0; at < 5; at += 1) await tried({ bindPassword: `guess ${at}` });
    const before = binds();
    for (let at = 0; at < 5; at += 1)
      expect(await doctor()).toMatchObject({
        ok: false,
        message: expect.stringContaining('code 49'),
      });
    for (let at = 0; at < 5; at += 1) {
      await save(`guess ${at}`);
      expect(await doctor()).toMatchObject({
        ok: false,
        message:
          'the directory has refused 5 bind passwords; doctor tests the password again in 15 minutes',
        hint: hintLike(
          `Store the right password: idctl ldap set --org ${org.slug} --password-stdin; then test it: idctl ldap test --org ${org.slug}`,
        ),
      });
    }
    expect(binds() - before).toBe(5);
    answers.bind = result;
    await save('the right one');
    expect(await tried({}, idctl.operator())).toBe('base');
    expect(await doctor()).toMatchObject({ message: expect.stringContaining('Step 5, base') });
    idctl.wait(900);
    answers.bind = no;
    expect(await doctor()).toMatchObject({ message: expect.stringContaining('code 49') });
  });
});
