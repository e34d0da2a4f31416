import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { reachOf } from '../../src/cli/reach.ts';
import { type Answer, createdAt, id, json, serve } from '../support/fake-server.ts';
import { typeLine } from '../support/typing.ts';

// These tests run the command line against a hostile server, and run commands that work only on the
// host.

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'idctl-hostile-'));
});
afterAll(() => rm(home, { recursive: true }));

const typeAt = (url: string, words: string[]) =>
  typeLine(words, { HOME: home, IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e' });

const hostile = 'Eve\u001b]0;owned\u0007\u001b[2J\u009b1A\r\u202egpj.exe\u2066\u200f\u2028';
// Characters that a terminal acts on, except the newline, and characters that reverse text.
const acted = /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069\u200f\u2028]/u;

const token = {
  id,
  name: hostile,
  description: hostile,
  prefix: hostile,
  kind: 'pat',
  scope: 'read',
  createdAt,
  lastUsedAt: null,
  expiresAt: null,
  token: hostile,
};

const views: Answer = ({ url = '', method }, response) => {
  if (url === '/api/v1/me')
    return void json(response, 200, { id, email: 'ada@acme.test', organizations: [] });
  if (url.startsWith('/api/v1/me/tokens'))
    return void json(response, 200, method === 'GET' ? page([token]) : token);
  const organization = { id, slug: hostile, name: hostile, createdAt, members: 1 };
  json(response, 200, url.startsWith('/api/v1/orgs?') ? page([organization]) : organization);
};

const page = (items: unknown[]) => ({ items, nextCursor: null });

const refusals: Answer = (_, response) =>
  void json(response, 409, {
    code: 'conflict',
    detail: hostile,
    hint: hostile,
    next: [hostile, { to: hostile, operation: 'client.list', with: { org: hostile } }],
    errors: [{ path: hostile, message: hostile }],
    [hostile]: hostile,
  });

describe('X9 a server cannot send control characters to the terminal', () => {
  const user = ['--user', 'ada@acme.test'];
  test.each([
    ['org', 'list'],
    ['org', 'show', 'acme'],
    ['org', 'delete', 'acme'],
    ['pat', 'list', ...user],
    ['pat', 'create', ...user, '--name', 'x'],
    ['pat', 'create', ...user, '--name', 'x', '--quiet'],
    ['pat', 'revoke', id],
    ['pat', 'revoke', id, '--yes'],
  ])('`idctl %s %s` escapes them', async (...words) => {
    for (const answer of [views, refusals]) {
      const { url } = await serve(answer);
      for (const more of [[], ['--json']]) {
        const { out, err } = await typeAt(url, [...words, ...more]);
        expect(out + err).toContain('\\u001b');
        expect(out + err).not.toMatch(acted);
      }
    }
  });
});

test('a name that is a part of a path cannot reach another route', async () => {
  const { url, asked } = await serve(views);
  for (const name of ['..', '.']) {
    const line = ['project', 'delete', name, '--org', 'acme', '--yes'];
    expect((await typeAt(url, line)).exit).toBe(2);
  }
  expect(asked).toEqual([]);
  await typeAt(url, ['org', 'show', 'a/../b?c#d']);
  expect(asked).toEqual(['GET /api/v1/orgs/a%2F..%2Fb%3Fc%23d Bearer cos_pat_e']);
});

test('interface page: on a remote server, --user must be the caller’s own account', async () => {
  const { url } = await serve(views);
  for (const user of ['ada@acme.test', 'ADA@acme.test', id])
    expect((await typeAt(url, ['pat', 'list', '--user', user])).exit).toBe(0);
  expect(await typeAt(url, ['pat', 'list'])).toMatchObject({ exit: 0, err: '' });
  expect(await typeAt(url, ['pat', 'list', '--user', 'eve@acme.test'])).toMatchObject({
    exit: 2,
    err: expect.stringContaining('must be your own account on a remote server: ada@acme.test'),
  });
});

describe('interface page: with a remote server, commands and options for the host alone are refused without a request', async () => {
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const nameOf = (command: Command): string[] =>
    command.parent === null ? [] : [...nameOf(command.parent), command.name()];
  const lines = leaves(await createProgram())
    .filter((command) => reachOf(command) === 'host')
    .map((command) => {
      const options = command.options.filter(({ mandatory }) => mandatory);
      return [
        ...nameOf(command),
        ...command.registeredArguments.map(() => 'x'),
        ...options.flatMap(({ long }) => [long ?? '', 'x']),
      ];
    });
  test.each([
    ...lines,
    ['domain', 'verify', 'acme.test', '--org', 'acme', '--assert'],
    ['domain', 'add', 'com', '--org', 'acme', '--override'],
    ['member', 'add', 'a@b.test', '--org', 'acme', '--role', 'member', '--keep-credentials'],
  ])('`idctl %s %s` is refused', async (...words) => {
    const { url, asked } = await serve(views);
    const { exit, err } = await typeAt(url, words);
    expect([exit, err]).toEqual([
      2,
      expect.stringMatching(
        /^idctl: (This command|The option --[a-z-]+) works only on the host of the daemon\.\n/,
      ),
    ]);
    expect(asked).toEqual([]);
  });

  test('the help of a command for the host alone says that it works only there', async () => {
    const { out } = await typeLine(['user', 'list', '--help'], { HOME: home });
    expect(out).toContain('This command works only on the host of the daemon.');
  });
});
