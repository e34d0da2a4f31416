import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  commandOf,
  commands,
  commandText,
  here,
  hintsAsText,
  nameInstance,
} from '../../src/cli/next.ts';
import { createProgram } from '../../src/cli/program.ts';
import { reachOf } from '../../src/cli/reach.ts';
import { settings } from '../../src/config/setting-list.ts';
import { hintMembers, routeOf, routeText, withHints } from '../../src/http/next.ts';
import { sectionTitles } from '../../src/http/pages/account/section.ts';
import { linksFor, operationPages } from '../../src/http/pages/next.ts';
import { operationRoutes } from '../../src/http/routes/list.ts';
import { pages } from '../../src/http/surface.ts';
import {
  type Next,
  nextParts,
  type OperationName,
  operations,
  readNext,
  type Todo,
} from '../../src/next.ts';
import { docsFile } from '../../src/version.ts';

const src = join(import.meta.dirname, '../../src');
// Object.keys gives the type string, but the keys of the table are these names.
const names = Object.keys(operations) as OperationName[];

/** The operation with a value for every argument. */
function whole(operation: OperationName): Todo {
  const given = operations[operation].map((name) => [name, `a ${name}`]);
  return { operation, with: Object.fromEntries(given) } as Todo; // The table has these arguments.
}

/** The command that the words name, and the words that follow it. */
function found(program: Command, words: string[]): { command: Command; rest: string[] } {
  let command = program;
  let at = 0;
  for (; at < words.length; at += 1) {
    const below = command.commands.find((one) => one.name() === words[at]);
    if (below === undefined) break;
    command = below;
  }
  return { command, rest: words.slice(at) };
}

test('the command of every operation exists, with its arguments and options', async () => {
  const program = await createProgram();
  for (const name of names) {
    const words = commandOf(whole(name)).split(/ (?=(?:[^']*'[^']*')*[^']*$)/);
    const { command, rest } = found(program, words.slice(1));
    expect(command.commands, `${name} is no whole command`).toEqual([]);
    const { operands, unknown } = command.parseOptions(rest);
    expect(unknown, name).toEqual([]);
    const [least, most] = [
      command.registeredArguments.filter(({ required }) => required).length,
      command.registeredArguments.length,
    ];
    expect(operands.length, name).toBeGreaterThanOrEqual(least);
    expect(operands.length, name).toBeLessThanOrEqual(most);
    const missing = command.options.filter(
      (option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
    );
    expect(missing, name).toEqual([]);
    // Every argument that the table lists is in the command.
    for (const value of operations[name]) expect(words.join(' '), name).toContain(`a ${value}`);
  }
});

/** An operation of the host whose command also works on a remote server, without its option. */
const onlyOfOperator = ['domain.override'];

test('an operation has a route, unless only the operator on the host can run it', async () => {
  const program = await createProgram();
  for (const name of names) {
    const { command } = found(program, commands[name].split(' '));
    const isOfHost = reachOf(command) === 'host' || onlyOfOperator.includes(name);
    expect(routeOf(name) === undefined, name).toBe(isOfHost);
    const text = routeText(whole(name)) ?? '';
    expect(text, name).not.toMatch(/idctl [a-z]|\/:\w/);
  }
});

test('a suggested command names the same instance as the running command', () => {
  onTestFinished(() => nameInstance({}));
  const unlock: Todo = { operation: 'user.unlock', with: { user: '-a' }, by: 'operator' };
  const override: Todo = { operation: 'domain.override', with: { domain: 'a.b' }, by: 'operator' };
  nameInstance({ config: 'my b.yaml' });
  expect(commandOf(list)).toBe("idctl client list --org acme --config 'my b.yaml'");
  expect(commandOf(unlock)).toBe("idctl user unlock --config 'my b.yaml' -- -a");
  expect(commandOf({ operation: 'serve' })).toBe("idctl serve --config 'my b.yaml'");
  expect(here('idctl login URL')).toBe('idctl login URL');
  // On a remote server, the operator runs commands on its host.
  nameInstance({ server: 'prod', config: 'b.yaml' });
  expect(commandOf(list)).toBe('idctl client list --org acme --server prod');
  expect(commandOf(unlock)).toBe('idctl user unlock -- -a');
  expect(commandOf(override)).toBe('idctl domain add a.b --override');
  expect(commandOf({ operation: 'serve' })).toBe('idctl serve');
});

const list: Todo = { to: 'list them', operation: 'client.list', with: { org: 'acme' } };

test('each door says a hint in its own words', () => {
  expect(commandText(list)).toBe('To list them, run: idctl client list --org acme');
  expect(routeText(list)).toBe('To list them: GET /api/v1/orgs/acme/clients');
  const role: Next = [
    'The last owner cannot leave.',
    { say: 'Make someone else owner first', operation: 'member.role', with: { role: 'owner' } },
  ];
  expect(commandText(role)).toBe(
    'The last owner cannot leave. Make someone else owner first: idctl member role EMAIL --role owner',
  );
  expect(routeText(role)).toBe(
    'The last owner cannot leave. Make someone else owner first: PATCH /api/v1/orgs/ORG/members/USER {"role":"owner"}',
  );
  const enable: Todo = { to: 'enable it', operation: 'user.enable', with: { user: 'a@b.test' } };
  expect(commandText({ ...enable, by: 'operator' })).toBe(
    'To enable it, the operator runs: idctl user enable a@b.test',
  );
  expect(routeText(enable)).toBe('To enable it, ask the operator.');
  expect(commandText([list, { to: 'show one', operation: 'client.set' }])).toBe(
    'To list them, run: idctl client list --org acme; to show one, run: idctl client set CLIENT',
  );
});

test('a page says a hint with a link to the page of its operation', () => {
  const hints: Next = ['Wait.', { to: 'start again', operation: 'totp.enroll' }, list];
  expect(linksFor([...hints, { to: 'start', operation: 'init' }])).toEqual([
    { href: '/#two-factor', text: 'Set up an authenticator' },
    { href: '/orgs/acme/applications', text: 'Applications' },
  ]);
  const org = { org: 'a&b' };
  expect(
    linksFor([
      { say: 'Choose an owner', operation: 'member.role', with: org },
      { to: 'x', operation: 'member.role' },
    ]),
  ).toEqual([{ href: '/orgs/a%26b/people', text: 'Choose an owner' }]);
  const domain = { org: 'acme', domain: 'acme.com' };
  expect(
    linksFor([
      { say: 'Verify it first', operation: 'domain.add', with: domain },
      { say: 'then', operation: 'domain.verify', with: domain },
      { say: 'then', operation: 'client.list', with: { org: 'acme' } },
    ]),
  ).toEqual([
    { href: '/orgs/acme/sign-in', text: 'Verify it first' },
    { href: '/orgs/acme/applications', text: 'Applications' },
  ]);
  const paths = new Set(pages.filter(({ method }) => method === 'GET').map(({ path }) => path));
  for (const { href } of Object.values(operationPages)) {
    const [path = '', section = ''] = href.split('#');
    const isSection = section === '' || section in sectionTitles;
    expect([href, paths.has(path), isSection]).toEqual([href, true, true]);
  }
});

test('the body of a refusal has the words and the value, and the value only for an operation', () => {
  expect(hintMembers('Wait.')).toEqual({ hint: 'Wait.' });
  expect(hintMembers(undefined)).toEqual({});
  expect(hintMembers(list)).toEqual({ hint: routeText(list), next: [list] });
  expect(readNext(JSON.parse(JSON.stringify(hintMembers(list).next)))).toEqual([list]);
  const long: Next = [list, 'x'.repeat(3000)];
  expect(hintMembers(long).next).toBeUndefined();
  expect(hintMembers(long).hint?.length).toBeLessThanOrEqual(1001);
});

test('a view over HTTP has the text of each hint and its value, and JSON of a command the text', () => {
  const view = {
    steps: [
      { name: 'a', hint: list },
      { name: 'b', hint: 'Wait.' },
    ],
    next: null,
  };
  expect(withHints(view)).toEqual({
    steps: [
      { name: 'a', hint: routeText(list), next: [list] },
      { name: 'b', hint: 'Wait.' },
    ],
    next: null,
  });
  expect(JSON.parse(JSON.stringify(view, hintsAsText))).toEqual({
    steps: [
      { name: 'a', hint: commandText(list) },
      { name: 'b', hint: 'Wait.' },
    ],
    next: null,
  });
});

test.each([
  [[{ operation: 'host.format' }]],
  [[{ operation: 'constructor' }]],
  [[{ operation: 'client.list', with: { path: '/' } }]],
  [[{ operation: 'client.list', with: { org: 7 } }]],
  ['idctl client list'],
  [{ operation: 'client.list' }],
  [null],
])('a hint of another version that idctl cannot read is left out: %j', (sent) => {
  expect(readNext(sent)).toBeNull();
});

test('every operation whose view has hints says so', () => {
  for (const { method, path, output, hints } of operationRoutes) {
    if (output === undefined) continue;
    const schema = JSON.stringify(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }));
    expect([`${method} ${path}`, schema.includes(nextParts.description ?? '')]).toEqual([
      `${method} ${path}`,
      hints === true,
    ]);
  }
});

/** The strings of the services' source, without its comments. */
function* sourceLines(folder: string): Generator<[place: string, line: string]> {
  for (const name of globSync(`${folder}/**/*.ts`, { cwd: src })) {
    const lines = readFileSync(join(src, name), 'utf8').split('\n');
    for (const [at, line] of lines.entries())
      if (!/^\s*(\/\/|\/?\*)/.test(line)) yield [`${name}:${at + 1}`, line];
  }
}

test('no service writes a command or the request of a route', async () => {
  const program = await createProgram();
  const first = program.commands.map((command) => command.name()).join('|');
  const command = new RegExp(`\\bidctl (${first})\\b`);
  // The first and the last line of a backup file.
  const ofBackup = /idctl backup (1|\\d)|end of idctl backup/;
  const found = [...sourceLines('services')].filter(
    ([, line]) => command.test(line) && !ofBackup.test(line),
  );
  expect(found).toEqual([]);
});

test('a plain hint does not name a setting, header or field: such a sentence is technical', () => {
  const keys = settings()
    .map(({ key }) => key)
    .filter((key) => /[.A-Z]/.test(key));
  const technical = /`|\b(GET|POST|PUT|Bearer|cookie |[A-Z][a-z]+-[A-Z][a-z]+:)/;
  const found = ['services', 'http', 'outbound', 'database', 'crypto']
    .flatMap((folder) => [...sourceLines(folder)])
    .flatMap(([place, line]) => {
      const [, hint = ''] = /\bhint: (?:'((?:[^'\\]|\\.)*)'|`)/.exec(line) ?? [];
      return technical.test(hint) || keys.some((key) => hint.includes(key)) ? [place] : [];
    });
  expect(found).toEqual([]);
});

test('a hint that names a page of the documentation names a file that exists here', () => {
  expect(readFileSync(docsFile('mail.md'), 'utf8')).toMatch(/^# /);
  expect(docsFile('none.md')).toBe('docs/none.md of the repository');
  const sources = globSync(join(src, '**/*.ts')).map((file) => readFileSync(file, 'utf8'));
  const pages = sources.flatMap((text) => [...text.matchAll(/docsFile\('([^']+)'\)/g)]);
  expect(pages.length).toBeGreaterThan(1);
  for (const [, page = ''] of pages) expect(docsFile(page)).toMatch(/^\//);
  const spoken = sources.join('\n').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  expect(spoken.match(/(?<![\w/.])docs\/\w+\.md/g)).toBeNull();
});
