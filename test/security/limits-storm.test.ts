import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ada, adaSignsIn, signIn, storm, twoDaemons } from '../support/storm.ts';

test('P8 wrong passwords from 250 networks do not keep out a client that has signed in lately at another daemon', async () => {
  const [first, second] = await twoDaemons();
  expect((await signIn(first.url, ada, '203.0.113.7')).status).toBe(200);
  const wrong = (at: number) => ({
    from: `2001:db8:0:${at.toString(16)}::1`,
    email: `x${at}@example.test`,
    password: 'wrong',
  });
  const calm = storm(
    second.url,
    Array.from({ length: 250 }, (_, at) => wrong(at)),
  );
  await pause(2000);
  const { ms, refused } = await adaSignsIn(second.url, 8);
  const seen = await calm();
  process.stdout.write(
    `250 wrong passwords in flight: ${JSON.stringify(seen)}; Ada: ${ms.join(', ')} ms, refused ${refused.join(', ')}\n`,
  );
  expect(seen[503]).toBeGreaterThan(0);
  expect(Math.max(...refused)).toBeLessThan(3);
}, 300_000);
