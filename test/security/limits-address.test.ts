import { expect, test } from 'vitest';
import { networkOf } from '../../src/text/address.ts';
import { fresh } from '../support/builders.ts';
import { openInstance } from '../support/instance.ts';

const limits = { addressFailures: 2 };

async function statuses(given: object, addresses: string[]): Promise<number[]> {
  const idctl = await openInstance({ limits, ...given });
  const client = idctl.client();
  const answers: number[] = [];
  for (const address of addresses) {
    const body = { email: `${fresh('x')}@example.test`, password: 'wrong' };
    const answer = await client.post('/api/v1/auth/login', body, { 'x-forwarded-for': address });
    answers.push(answer.status);
  }
  return answers;
}

test('P9 a client that is no trusted proxy cannot choose the address that the limiter counts', async () => {
  expect(await statuses({}, ['198.51.100.1', '198.51.100.2', '198.51.100.3'])).toEqual([
    401, 401, 429,
  ]);
});

test('P9 behind a trusted proxy each client has its own limit', async () => {
  const http = { trustedProxies: ['127.0.0.1'] };
  const [ada, bob] = ['198.51.100.1', '198.51.100.2'];
  expect(await statuses({ http }, [ada, ada, bob, ada, bob, bob])).toEqual([
    401, 401, 401, 429, 401, 429,
  ]);
});

test('P9 an address that a client sends in front of the proxy’s entry is ignored', async () => {
  const http = { trustedProxies: ['127.0.0.1'] };
  const forged = (at: number) => `203.0.113.${at}, 198.51.100.1`;
  expect(await statuses({ http }, [forged(1), forged(2), forged(3)])).toEqual([401, 401, 429]);
});

test('P8 with limits.enabled: off, nothing is counted', async () => {
  const off = { limits: { ...limits, enabled: 'off', accountFailures: 1 } };
  expect(await statuses(off, Array(4).fill('198.51.100.1'))).toEqual([401, 401, 401, 401]);
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::198.51.100.7', '64:ff9b:0:0::/64'],
  [null, 'unknown'],
])('P8 the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
