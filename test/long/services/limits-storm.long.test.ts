import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { password } from '../../support/builders.ts';
import { ada, adaSignsIn, mallory, signIn, storm, twoDaemons } from '../../support/storm.ts';

test('P8 one account that signs in from many networks takes no more than its share of the places in the password queue', async () => {
  const [first, second] = await twoDaemons();
  expect((await signIn(first.url, ada, '203.0.113.7')).status).toBe(200);
  const networks = Array.from({ length: 60 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`);
  for (const from of networks) expect((await signIn(first.url, mallory, from)).status).toBe(200);
  // Four requests from each network, so that there are not enough places for all of them.
  const flood = networks.flatMap((from) => Array(4).fill({ from, email: mallory, password }));
  const calm = storm(second.url, flood);
  await pause(2000);
  const { refused } = await adaSignsIn(second.url, 8);
  const seen = await calm();
  expect(seen[503]).toBeGreaterThan(0);
  expect(Math.max(...refused)).toBeLessThan(3);
}, 300_000);
