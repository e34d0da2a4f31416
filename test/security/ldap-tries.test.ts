import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { changeLdap } from '../../src/services/ldap/change.ts';
import { testLdapInput } from '../../src/services/ldap/schema.ts';
import { testLdap } from '../../src/services/ldap/test.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, signInByLdap } from '../support/ldap.ts';
import { entry, result, startScriptedDirectory } from '../support/scripted-directory.ts';
import { directoryPassword, service, suffix } from '../support/slapd.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] }, limits: { addressFailures: 1_000_000 } });
});
afterAll(() => idctl.close());

/** A directory that finds one person by whatever name, and an organization that signs in by it. */
async function findingOne() {
  const dn = `uid=${fresh('ada')},${suffix}`;
  const found: { mail: string; uuid: string } = { mail: '', uuid: dn };
  const directory = await startScriptedDirectory((request) => {
    if (request.kind === 'search') {
      const attributes = { mail: [found.mail], givenName: ['Ada'], sn: ['B'], entryUUID: [found.uuid] };
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
  const test = async (given: object) => {
    const input = testLdapInput.parse({ org: org.slug, ...given });
    return testLdap(idctl.operator(), input).then(
      ({ steps }) => steps.find(({ ok }) => !ok)?.name ?? 'ok',
      (error: unknown) => (error instanceof Refusal ? error.code : error),
    );
  };
  return { org: org.slug, found, signIn, test, dn, tried };
}

test('L8 five wrong passwords of one person are all there are, whatever names they come by', async () => {
  const { found, signIn, tried } = await findingOne();
  const answers = [];
  for (let at = 0; at < 8; at += 1) answers.push(await signIn(`alias-${at}`, 'wrong'));
  expect(tried()).toBe(5);
  // L7: that there is such a person is not told by the sixth either.
  for (const { status, body } of answers)
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'signin_failed' });
  expect(await signIn('alias-9')).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  expect(tried()).toBe(5);
  found.uuid = fresh('another');
  expect(await signIn('alias-9', 'wrong')).toMatchObject({ status: 401 });
  expect(tried()).toBe(6);
});

test('L8 a right password costs no try, by however many names', async () => {
  const { signIn } = await findingOne();
  for (let at = 0; at < 8; at += 1) expect(await signIn(`alias-${at}`)).toMatchObject({ status: 200 });
});

test('L8 trying a password in the test counts for the same person, whatever the name', async () => {
  const { signIn, test, tried } = await findingOne();
  const answers = [];
  for (let at = 0; at < 7; at += 1) answers.push(await test({ username: `alias-${at}`, password: 'wrong' }));
  expect(answers).toEqual([...Array(5).fill('password'), ...Array(2).fill('too_many_requests')]);
  expect(tried()).toBe(5);
  expect(await signIn('alias-9')).toMatchObject({ status: 401 });
  expect(tried()).toBe(5);
});

test('L8 a bind password is no way to guess either, and a right one costs nothing', async () => {
  const { org, test, dn, tried } = await findingOne();
  const guess = (bindDn: string, bindPassword: string) => test({ bindDn, bindPassword });
  for (let at = 0; at < 7; at += 1)
    expect(await guess(service.bindDn, service.bindPassword)).not.toBe('too_many_requests');
  const answers = [];
  for (const spelled of [dn, dn.toUpperCase(), dn, dn, dn, dn]) answers.push(await guess(spelled, 'wrong'));
  expect(answers).toEqual([...Array(5).fill('service bind'), 'too_many_requests']);
  // Nor by way of saving it.
  await changeLdap(idctl.operator(), { org, bindDn: dn, bindPassword: 'wrong' });
  expect(await test({})).toBe('too_many_requests');
  expect(tried()).toBeLessThanOrEqual(5);
});
