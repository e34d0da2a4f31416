import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { typeLine } from '../support/typing.ts';

const org = ['--org', 'acme'];
const user = 'ada@acme.test';

/** Command lines with a wrong value, each with the field that the message must name. */
const wrong: [line: string[], field: string][] = [
  [['init', '--owner', 'nobody'], '--owner'],
  [['init', '--org', ''], '--org'],
  [['init', '--base-url', 'https://x.test/path'], 'baseUrl'],
  [['init', '--database', 'mysql://x'], 'database.url'],
  [['init', '--database', 'postgres://x@y/z?password=w'], '--database'],
  [['init', '--smtp-url', 'smtp://ada:secret@mail.acme.test'], '--smtp-url'],
  [['init', '--smtp-password-file', '/nonexistent'], '--smtp-password-file'],
  [['serve', '--listen', 'nowhere'], 'listen'],
  [['org', 'create', ''], 'name'],
  [['org', 'create', 'Acme\u202e'], 'name'],
  [['org', 'create', 'Acme', '--slug', 'A B'], '--slug'],
  [['org', 'show', ''], 'org'],
  [['org', 'rename', 'acme', 'x'.repeat(201)], 'name'],
  [['org', 'delete', ''], 'org'],
  [['user', 'create', 'nobody', '--name', 'N'], 'email'],
  [['user', 'create', user, '--name', 'N', '--locale', '?'], '--locale'],
  [['user', 'create', user, '--name', 'N', '--password-file', '/nonexistent'], '--password-file'],
  [['user', 'show', 'nobody'], 'user'],
  [['user', 'disable', 'nobody'], 'user'],
  [['user', 'enable', 'nobody'], 'user'],
  [['user', 'password', user], '--password-stdin'],
  [['user', 'delete', 'nobody'], 'user'],
  [['member', 'add', user, ...org, '--role', 'king'], '--role'],
  [['member', 'list', '--org', ''], '--org'],
  [['member', 'role', user, ...org, '--role', 'king'], '--role'],
  [['member', 'remove', 'nobody', ...org], 'user'],
  [['session', 'list', '--user', 'nobody'], '--user'],
  [['session', 'revoke', 'nothing'], 'id'],
  [['session', 'revoke'], 'id'],
  [['domain', 'add', 'no domain', ...org], 'domain'],
  [['domain', 'verify', '10.0.0.1', ...org], 'domain'],
  [['domain', 'verify', 'acme.test', ...org, '--timeout', '-1'], '--timeout'],
  [['domain', 'list', '--org', ''], '--org'],
  [['domain', 'remove', '*.acme.test', ...org], 'domain'],
  [['sso', 'set', ...org, '--domain', 'x'], '--domain'],
  [['sso', 'set', ...org, '--issuer', 'ftp://x'], '--issuer'],
  [['sso', 'set', ...org, '--client-id', ''], '--client-id'],
  [['sso', 'set', ...org, '--absent-groups', 'some'], '--absent-groups'],
  [['sso', 'show', '--org', ''], '--org'],
  [['sso', 'enable', '--org', ''], '--org'],
  [['sso', 'disable', '--org', ''], '--org'],
  [['sso', 'remove', '--org', ''], '--org'],
  [['event', 'list', ...org, '--kind', ''], '--kind'],
  [['client', 'create', 'W', ...org, '--redirect-uri', 'http://x.test'], '--redirect-uri: must be'],
];

const commands = leavesOf(await createProgram()).map((command) => {
  const words = spelled(command).split(' ');
  const mandatory = command.options.filter((option) => option.mandatory);
  const options = mandatory.flatMap(({ long }) => [long ?? '', 'x']);
  return { name: words.join(' '), words, options, count: command.registeredArguments.length };
});

describe('wrong usage is refused before a file or database is opened', () => {
  let out = '';
  let err = '';

  const type = async (words: string[]) => {
    const nowhere = { HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
    const { exit, ...told } = await typeLine(words, nowhere);
    ({ out, err } = told);
    return exit;
  };

  it.each(wrong)('the message for %j names %s', async (line, field) => {
    expect(await type(line)).toBe(2);
    expect(err).toMatch(/^idctl: .+\n(hint: .+\n)?$/);
    expect(err).toContain(field);
    expect(out).toBe('');
  });

  it.each(wrong)('with --json, the message for %j is a problem object', async (line, _field) => {
    expect(await type([...line, '--json'])).toBe(2);
    expect(err.trimEnd()).not.toContain('\n');
    expect(JSON.parse(err)).toMatchObject({
      code: expect.stringMatching(/_in|invalid/),
      detail: expect.any(String),
    });
    expect(out).toBe('');
  });

  it.each([
    [['org', 'show', ''], 'org: must not be empty'],
    [
      ['event', 'list', ...org, '--kind', 'x'.repeat(101)],
      `--kind: ${'x'.repeat(100)} is not a kind of event`,
    ],
    [['user', 'show', 'nobody'], 'user: must be an e-mail address or an id'],
    [['help', 'nope'], "unknown command 'nope'"],
    [['help', 'org', 'lst'], "unknown command 'lst'\nhint: Did you mean list?"],
    [['token', 'list'], "unknown command 'token'\nhint: Did you mean idctl pat?"],
    [
      ['webhook', 'add', ...org, '--url', 'http://x'],
      "unknown option '--url'\nhint: Type the url without an option: idctl webhook add <url>.",
    ],
  ])('the message for %j says %s', async (line, words) => {
    expect(await type(line)).toBe(2);
    expect(err).toContain(`idctl: ${words}`);
    expect(out).toBe('');
  });

  it.each([
    ['help', 'sso', 'set'],
    ['help', 'sso'],
    ['help', 'org', 'show', 'acme'],
  ])('help before a command shows the help of that command: %s %s %s %s', async (...line) => {
    expect(await type(line)).toBe(0);
    expect(out).toContain(`Usage: idctl ${line.slice(1, 3).join(' ')} [options]`);
  });

  it.each([[['--json']], [['org', '--json']]])(
    '%j prints a problem object, not a help page',
    async (line) => {
      expect(await type(line)).toBe(2);
      expect(JSON.parse(err)).toMatchObject({
        code: 'invalid_input',
        detail: 'a command is missing',
      });
      expect(out).toBe('');
    },
  );

  it('--version takes --json too', async () => {
    expect(await type(['--version', '--json'])).toBe(0);
    // A checkout is not a build, so it does not name a commit.
    expect(JSON.parse(out)).toEqual({ version: expect.any(String), commit: null, date: null });
  });

  it.each(commands)(
    '$name refuses an option it does not know',
    async ({ name, words, options }) => {
      expect(await type([...words, ...options, '--no-such-option'])).toBe(2);
      expect(err).toBe(
        `idctl: unknown option '--no-such-option'\nhint: See idctl ${name} --help\n`,
      );
    },
  );

  it.each([
    ['--token=hunter22', "unknown option '--token'"],
    ['--tokn=hunter22\nhunter23', "unknown option '--tokn'"],
    ['--json=hunter22', "unknown option '--json'"],
    ['-thunter22', "unknown option '-t'"],
    ['hunter22', "too many arguments for 'list'. Expected 0 arguments but got 1."],
    ["it's hunter22", "too many arguments for 'list'. Expected 0 arguments but got 1."],
  ])('X4 the refusal of the word %j does not repeat its value', async (word, said) => {
    const refusal = `idctl: ${said}\nhint: See idctl org list --help\n`;
    expect([await type(['org', 'list', word]), err, out]).toEqual([2, refusal, '']);
    err = '';
    expect(await type(['org', 'list', word, '--json'])).toBe(2);
    expect(JSON.parse(err)['detail']).toBe(said);
  });

  it.each(commands)('$name refuses one argument too many', async ({ words, options, count }) => {
    expect(await type([...words, ...Array(count + 1).fill('x'), ...options])).toBe(2);
    expect(err).toContain('too many arguments');
  });

  it.each(commands.filter(({ options }) => options.length > 0))(
    'without its required options, $name is refused with the name of the first',
    async ({ words, count, options }) => {
      expect(await type([...words, ...Array(count).fill('x')])).toBe(2);
      expect(err).toMatch(new RegExp(`required option '(-\\w, )?${options[0]} `));
    },
  );

  it.each([
    ['member add ada@acme.test', '--role <role>: member, admin or owner'],
    [
      'project-member add ada@acme.test --project wiki',
      '--role <role>: viewer, commenter, member or admin',
    ],
    ['setup-link create', '--for <parts>: what to set up: domain, sso, ldap and scim'],
  ])('%s without its required option names the choices', async (line, choices) => {
    expect(await type(line.split(' '))).toBe(2);
    expect(err).toContain(`hint: ${choices}`);
  });

  it.each(
    commands.filter(
      ({ count, name }) =>
        count > 0 && !['session revoke', 'identity unlink', 'logout'].includes(name),
    ),
  )(
    'without its argument, $name is refused with the name of the argument',
    async ({ words, options }) => {
      expect(await type([...words, ...options])).toBe(2);
      expect(err).toMatch(/^idctl: missing required argument '\w+'\nhint: See idctl .+ --help\n$/);
    },
  );
});

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function spelled(command: Command): string {
  return command.parent?.parent ? `${spelled(command.parent)} ${command.name()}` : command.name();
}
