import { expect, onTestFinished, test } from 'vitest';
import { password, person } from '../support/builders.ts';
import { openIdctl } from '../support/idctl.ts';

test('setting the clock back by a day ends lockouts; setting it back by half a minute keeps them', async () => {
  const idctl = await openIdctl({ limits: { accountFailures: 3, addressFailures: 1000 } });
  onTestFinished(() => idctl.close());
  const { email } = await person(idctl);
  const signIn = async (given: string) => {
    const answer = await idctl.client().post('/api/v1/auth/login', { email, password: given });
    return [answer.status, Number(answer.headers['retry-after'] ?? 0) <= 1800];
  };
  for (let time = 0; time < 3; time += 1) expect(await signIn('wrong')).toEqual([401, true]);
  expect(await signIn(password)).toEqual([429, true]);
  // The clocks of two daemons may differ by this much, so the lockout stays.
  idctl.wait(-30);
  expect(await signIn(password)).toEqual([429, true]);
  idctl.wait(-86_400);
  expect(await signIn(password)).toEqual([200, true]);
  // After that, attempts count as before.
  for (let time = 0; time < 3; time += 1) expect(await signIn('wrong')).toEqual([401, true]);
  expect((await signIn(password))[0]).toBe(429);
});
