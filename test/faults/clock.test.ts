import { expect, onTestFinished, test } from 'vitest';
import { password, person } from '../support/builders.ts';
import { openIdctl } from '../support/idctl.ts';

test('a clock that jumps back ends lockouts, and prolongs none', async () => {
  const idctl = await openIdctl({ limits: { accountFailures: 3, addressFailures: 1000 } });
  onTestFinished(() => idctl.close());
  const { email } = await person(idctl);
  const signIn = async (given: string) => {
    const answer = await idctl.client().post('/api/v1/auth/login', { email, password: given });
    return [answer.status, Number(answer.headers['retry-after'] ?? 0) <= 1800];
  };
  for (let time = 0; time < 3; time += 1) expect(await signIn('wrong')).toEqual([401, true]);
  expect(await signIn(password)).toEqual([429, true]);
  // As much as two daemons may differ: the lockout stays, for both.
  idctl.wait(-30);
  expect(await signIn(password)).toEqual([429, true]);
  idctl.wait(-86_400);
  expect(await signIn(password)).toEqual([200, true]);
  // From then on everything counts as before.
  for (let time = 0; time < 3; time += 1) expect(await signIn('wrong')).toEqual([401, true]);
  expect((await signIn(password))[0]).toBe(429);
});
