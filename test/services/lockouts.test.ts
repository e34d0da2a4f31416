import { expect, test } from 'vitest';
import { unlockUser } from '../../src/services/people/users/operations.ts';
import { showUser } from '../../src/services/tenancy/profile/operations.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { type Installation, install } from '../support/installation.ts';
import { openInstance } from '../support/instance.ts';

test('the operator sees each lockout of an account, with its network and its end', async () => {
  const idctl = await openInstance({ limits: { accountFailures: 3, addressFailures: 1000 } });
  const { email } = await person(idctl);
  const shown = async () => (await showUser(idctl.operator(), { user: email ?? '' })).lockouts;
  const guess = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      await idctl.client().post('/api/v1/auth/login', { email, password: `wrong ${at} password` });
    }
  };
  await guess(2);
  expect(await shown()).toEqual([]);
  await guess(1);
  const [lockout, ...more] = await shown();
  expect(more).toEqual([]);
  expect(lockout).toMatchObject({ of: 'password', network: null });
  const left = Date.parse(lockout?.until ?? '') - idctl.operator().now.getTime();
  expect(left).toBeGreaterThan(600_000);
  expect(left).toBeLessThan(901_000);
  await unlockUser(idctl.operator(), { user: email ?? '' });
  expect(await shown()).toEqual([]);
  await signedIn(idctl, email);
  await guess(3);
  expect(await shown()).toMatchObject([{ of: 'password', network: '127.0.0.1' }]);
  idctl.wait(901);
  expect(await shown()).toEqual([]);
});

test('user show prints a lockout, and event list prints the reason and the person of each refused sign-in', async () => {
  const site: Installation = await install({ env: { IDCTL_LIMITS_ACCOUNT_FAILURES: '2' } });
  try {
    const daemon = await site.serve();
    const { email } = site.owner;
    const login = (given: string) =>
      fetch(`${daemon.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: given }),
      });
    const answer = await login(site.owner.password);
    const { refreshToken } = Object(await answer.json());
    await fetch(`${daemon.url}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refreshToken }),
    });
    for (let at = 0; at < 3; at += 1) await login(`${password} ${at}`);
    const { out } = await site.run(['event', 'list']);
    expect(out).toMatch(/^AT +KIND +ACTOR +SUBJECT +REASON +ORG$/m);
    expect(out).toMatch(/session\.started +olga@acme\.test +olga@acme\.test +- +-$/m);
    expect(out).not.toMatch(/session\.ended +anonymous/);
    expect(out).toMatch(/signin\.refused +anonymous +olga@acme\.test +wrong_password +-$/m);
    const shown = await site.run(['user', 'show', email]);
    expect(shown.out).toMatch(/^Locked: +password from 127\.0\.0\.1 until 20\d\d-.+Z$/m);
  } finally {
    await site.close();
  }
});
