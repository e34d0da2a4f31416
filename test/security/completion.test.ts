import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { Project } from '../../src/database/models/project.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { surroundings, typedProgram } from '../support/daemon.ts';
import { type Installation, install } from '../support/installation.ts';
import { type Answers, inTerminal } from '../support/pseudo-terminal.ts';

// Security X9: the operator's shell must not run any part of a name that a stranger chose.
// Each line is typed in a real terminal. An unquoted part would run the canary program.

const addresses = [
  'zed`x.sh`@evil.test',
  'yan$home@evil.test',
  'xi!!@evil.test',
  'wu*@evil.test',
  'vi{a|x.sh|b}@evil.test',
  'ux#y@evil.test',
  "so'q'@evil.test",
  'ro|x.sh|@evil.test',
  'qi&x.sh&@evil.test',
  'pa=b%s@evil.test',
  "oz'`x.sh`'$home@evil.test",
  '~root@evil.test',
  '#c@evil.test',
  '=ls@evil.test',
  '-n@evil.test',
  'twin`x.sh`a@evil.test',
  'twin`x.sh`b@evil.test',
];
// idctl refuses such slugs. Completion does not rely on that.
const slugs = [
  'na$(x.sh)b',
  'mo x.sh;x.sh',
  'li"x"\\`x.sh`',
  'ki~*?[a-z]',
  'jo:x=y@z',
  'him\nx.sh',
  'gu\u001b]0;x\u0007',
];
const project = 'fo$(x.sh) "b" \'c\' \\d';
const file = 'ed`x.sh`$(x.sh) "q" \'s\'.csv';

let site: Installation;
let env: Record<string, string>;
let record: string;
let canary: string;
beforeAll(async () => {
  site = await install({
    prepare: async (operator) => {
      for (const email of addresses)
        await createUser(operator(), { email, name: 'Eve `x.sh` $(x.sh)' });
      for (const slug of slugs) {
        const { id } = await createOrganization(operator(), { name: 'Evil' });
        await transaction(() => Organization.update({ slug }, { where: { id } }));
      }
      const { id } = await createProject(operator(), { org: 'acme', name: 'Evil' });
      await transaction(() => Project.update({ slug: project }, { where: { id } }));
    },
  });
  const bin = join(site.folder, 'bin');
  record = join(site.folder, 'record');
  canary = join(site.folder, 'canary');
  await mkdir(bin);
  const program = (name: string, text: string) =>
    writeFile(join(bin, name), `#!/bin/sh\n${text}\n`).then(() => chmod(join(bin, name), 0o755));
  const real = `exec ${typedProgram} "$@"`;
  await program(
    'idctl',
    `case "$1" in __complete* | completion) ${real} ;; esac
for word; do last=$word; done
printf '%s\\0' "$last" >>'${record}'
echo recorded`,
  );
  await program('x.sh', `echo run >>'${canary}'`);
  await writeFile(join(site.folder, file), '');
  const rc = (shell: string) => `PS1='> '\n${shell}\ncd '${site.folder}'\n`;
  await writeFile(join(site.folder, 'bashrc'), rc('eval "$(idctl completion bash)"'));
  const zsh = 'autoload -U compinit; compinit -D -u; eval "$(idctl completion zsh)"';
  await writeFile(join(site.folder, '.zshrc'), rc(zsh));
  const fish = "function fish_prompt; echo -n '> '; end; idctl completion fish | source";
  await writeFile(join(site.folder, 'fishrc'), `${fish}\ncd '${site.folder}'\n`);
  const base = surroundings();
  env = {
    ...base,
    PATH: `${bin}${delimiter}${base['PATH']}`,
    HOME: site.folder,
    ZDOTDIR: site.folder,
    TERM: 'xterm',
    IDCTL_DATABASE: site.database,
    IDCTL_KEY_FILE: site.keyFile,
  };
}, 1150_000);
afterAll(() => site.close());

/** Types each line, then Tab and Enter. Returns the last argument of each run of idctl. */
async function typed(shell: string, lines: string[]): Promise<string[]> {
  await writeFile(record, '');
  const answers: Answers = lines.map((line, at) => [
    at === 0 ? '> ' : 'recorded',
    `idctl ${line}\t\r`,
  ]);
  // If completion left a quote open, the shell would wait for its end.
  await inTerminal(shell, env, [...answers, ['recorded', 'exit\r']], 400_000);
  return (await readFile(record, 'utf8')).split('\0').slice(0, -1);
}

const shells = (
  [
    ['bash', () => `bash --rcfile '${site.folder}/bashrc' -i`],
    ['zsh', () => 'zsh -i'],
    ['fish', () => `fish --no-config -C "source '${site.folder}/fishrc'"`],
  ] as const
).filter(([name]) => !counterpartMissing('bsdutils') && !counterpartMissing(name));

const find = (begin: string) => addresses.find((address) => address.startsWith(begin)) ?? '';
const begins = ['zed', 'yan', 'xi', 'wu', 'vi', 'ux', 'so', 'ro', 'qi', 'pa', 'oz'];

describe.each(shells)('X9 completion in %s', (name, shell) => {
  test('X9 an address is completed unchanged, and the shell does not run a part of it', async () => {
    const inQuotes = ['zed', 'yan', 'xi', 'so', 'oz'];
    const lines = [
      ...begins.map((begin) => `user show ${begin}`),
      ...["'", '"'].flatMap((quote) => inQuotes.map((begin) => `user show ${quote}${begin}`)),
    ];
    expect(await typed(shell(), lines)).toEqual([...begins, ...inQuotes, ...inQuotes].map(find));
    expect(existsSync(canary)).toBe(false);
  }, 500_000);

  test('X9 an address that begins with a shell character, is half typed or follows another word is completed, and not run', async () => {
    const lines: [string, string][] = [
      ["user show '~", '~root@evil.test'],
      ['user show \\~', '~root@evil.test'],
      ["user show '#", '#c@evil.test'],
      ['user show \\#', '#c@evil.test'],
      ["user show '=", '=ls@evil.test'],
      ["user show 'zed`x.s", find('zed')],
      ["user show 'pa=b", find('pa')],
      ['user show "pa=b', find('pa')],
      ['user show pa=b', find('pa')],
      ['user show pa=b%s@', find('pa')],
      ["member add --role 'member' --org 'a b' ze", find('zed')],
      ["user show so\\'", find('so')],
      // A leading dash would begin an option, so the address follows `--` or `--user`.
      ['user show -- -n', '-n@evil.test'],
      ['totp enroll --user -n', '-n@evil.test'],
      ["totp enroll --user='ze", `--user=${find('zed')}`],
      ['totp enroll --user=ze', `--user=${find('zed')}`],
    ];
    const shown = await typed(
      shell(),
      lines.map(([line]) => line),
    );
    expect(shown).toEqual(lines.map(([, value]) => value));
    expect(existsSync(canary)).toBe(false);
  }, 500_000);

  test('X9 the common start of several values is completed, and the shell does not run a part of it', async () => {
    // Tab inserts the common start. In bash, this leaves a quote open, which the next input closes.
    const end = name === 'bash' ? "a'" : 'a';
    const lines = [`user show twi\t${end}`];
    expect((await typed(shell(), lines))[0]).toMatch(/^twin`x\.sh`a(@evil\.test)?$/);
    expect(existsSync(canary)).toBe(false);
  }, 60_000);

  test('X9 slugs with shell characters are completed, and not run; values with invisible characters are not offered', async () => {
    const lines = [
      'org show na',
      'org show mo',
      'org show li',
      'org show ki',
      'org show jo',
      "org show 'jo:x",
      'doctor --org=na',
      'doctor --org=mo',
      'domain list --org li',
      'project delete --org acme fo',
      "project delete --org acme 'fo",
      'org show him',
      'org show gu',
    ];
    const [na = '', mo = '', li = '', ki = '', jo = ''] = slugs;
    const joined = [`--org=${na}`, `--org=${mo}`];
    const expected = [na, mo, li, ki, jo, jo, ...joined, li, project, project, 'him', 'gu'];
    expect(await typed(shell(), lines)).toEqual(expected);
    expect(existsSync(canary)).toBe(false);
  }, 1150_000);

  test('X9 file names are completed, and not run', async () => {
    expect(await typed(shell(), ['mappings import --org acme ed'])).toEqual([file]);
    expect(existsSync(canary)).toBe(false);
  }, 60_000);
});
