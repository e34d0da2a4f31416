import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { install } from '../support/installation.ts';

test('without free file handles, a connected client can still sign in and provision', async () => {
  let [token, base] = ['', ''];
  const site = await install({
    prepare: async (operator) => {
      ({ token, baseUrl: base } = await rotateScimToken(operator(), { org: 'acme' }));
    },
  });
  onTestFinished(() => site.close());
  const { url, pid } = await site.serve();
  // This connection opens before the file handles are used up.
  const dispatcher = new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 60_000 });
  onTestFinished(() => dispatcher.close());
  const send = async (method: 'GET' | 'POST', path: string, sent?: [string, unknown]) => {
    const [type, body] = sent ?? [];
    const answer = await request(`${url}${path}`, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${token}`, ...(type ? { 'content-type': type } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.body.text();
    return { status: answer.statusCode, retry: answer.headers['retry-after'] };
  };
  const users = `${new URL(base).pathname}/Users`;
  const create = (name: string) =>
    send('POST', users, ['application/scim+json', { userName: `${name}@acme.test` }]);
  const signIn = () => send('POST', '/api/v1/auth/login', ['application/json', site.owner]);
  expect((await send('GET', '/healthz')).status).toBe(200);

  const allow = (handles: number) =>
    execFileSync('/usr/bin/prlimit', ['--pid', String(pid), `--nofile=${handles}:`]);
  const taken = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let lowestFree = 0;
  while (taken.has(lowestFree)) lowestFree += 1;
  allow(lowestFree);
  const answers = [await signIn(), await create('ann')];
  // Both are answered with the handles that the daemon has: nothing is loaded or opened for them.
  expect(answers.map(({ status }) => status)).toEqual([200, 201]);
  allow(1024);
  expect((await signIn()).status).toBe(200);
  expect((await create('bea')).status).toBe(201);
});
