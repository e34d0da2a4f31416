import type { Command } from 'commander';
import type { z } from 'zod';
import type { userView } from '../../services/people/accounts/account.ts';
import { verb } from '../command.ts';
import { ifFound, make } from '../making.ts';
import type { Fields } from '../output.ts';
import { givenSecret } from '../prompt.ts';
import type { Call } from '../run.ts';

type User = z.output<typeof userView>;

/** The account fields that the command shows. */
export const block: Fields<User> = [
  ['E-mail', (view) => view.email],
  ['Verified', (view) => view.emailVerified],
  ['Name', (view) => view.name],
  ['Locale', (view) => view.locale],
  ['Two-factor', (view) => view.twoFactorEnabled],
  ['Disabled', (view) => view.disabled],
  ['Created', (view) => view.createdAt],
  ['ID', (view) => view.id],
];

/** The options that name the source of a password. */
export const passwordOptions = {
  '--password-stdin': 'read the password from standard input',
  '--password-file <file>': 'read the password from a file',
};

export function addUserCreate(user: Command): void {
  verb(user, 'create <email>', {
    summary: 'Create an account, with or without a password',
    detail: 'With --if-absent, an existing account keeps its password.',
    required: { '--name <name>': 'full name' },
    options: { '--locale <tag>': 'language, such as en or de-AT', ...passwordOptions },
    makes: true,
    example:
      "idctl user create ada@example.com --name 'Ada Byron' \\\n      --password-stdin <password",
    run: create,
  });
}

async function create(call: Call): Promise<void> {
  const { createUser } = await import('../../services/people/users/operations.ts');
  const { passwordStdin: stdin, passwordFile: file, ...input } = call.input;
  const password = await givenSecret({ name: 'password', stdin, file });
  const { view, made } = await make<User>(call, createUser, {
    input: { ...input, password },
    fields: block,
    find: async ({ email }) => {
      const { showUser } = await import('../../services/tenancy/profile/operations.ts');
      const { userView } = await import('../../services/people/accounts/account.ts');
      const shown = await ifFound(call.operate(showUser, { user: email }));
      return shown && userView.parse(shown);
    },
    has: ({ name, locale }) => ({ name, locale }),
  });
  if (!made || password !== undefined) return;
  await tellNext(call, String(view.email));
}

/** Names the commands that let the new person sign in or join an organization. */
async function tellNext(call: Call, email: string): Promise<void> {
  const { commandLine } = await import('../command-line.ts');
  const { listOrganizations } = await import('../../services/tenancy/organizations/operations.ts');
  const [first, second] = (await call.operate(listOrganizations, { limit: 2 })).items;
  const org = `--org ${second === undefined ? first?.slug : 'ORG'}`;
  const inside = [
    commandLine('idctl member add', email, `${org} --role member`),
    commandLine('idctl invitation create', email, org),
  ];
  const lines = [commandLine('idctl user password', email), ...(first === undefined ? [] : inside)];
  const [only = '', ...more] = lines.map((line) => call.here(line));
  call.note(more.length === 0 ? `Next: ${only}` : ['Next, one of:', only, ...more].join('\n  '));
}
