import type { Command } from 'commander';
import type { z } from 'zod';
import type { userView } from '../../services/people/accounts/account.ts';
import type { loginLinkView } from '../../services/people/sessions/schema.ts';
import type { passwordSetView, shownUserView } from '../../services/people/users/operations.ts';
import type { deletedUserView } from '../../services/tenancy/profile/operations.ts';
import { noun, verb } from '../command.ts';
import { credentialText } from '../consequences.ts';
import type { Fields } from '../output.ts';
import { canAsk, givenSecret, secretOrAsk } from '../prompt.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/users/operations.ts');

type User = z.output<typeof userView>;
type Lockout = z.output<typeof shownUserView>['lockouts'][number];

const row: Fields<User> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Name', (view) => view.name],
  ['Disabled', (view) => view.disabled],
  ['Created', (view) => view.createdAt],
];

const block: Fields<User> = [
  ['E-mail', (view) => view.email],
  ['Verified', (view) => view.emailVerified],
  ['Name', (view) => view.name],
  ['Locale', (view) => view.locale],
  ['Two-factor', (view) => view.twoFactorEnabled],
  ['Disabled', (view) => view.disabled],
  ['Created', (view) => view.createdAt],
  ['ID', (view) => view.id],
];

const shown: Fields<z.output<typeof shownUserView>> = [
  ...block,
  [
    'Proof',
    (view) => (view.awaitsCode ? 'not proved; waits for a mailed code' : proofs[view.emailProof]),
  ],
  ['Locked', (view) => view.lockouts.map(lockoutText).join('; ') || 'no'],
  ['Signs in by', (view) => view.credentials.map(credentialText).join('; ') || noWay(view)],
];

function lockoutText({ of, network, until }: Lockout): string {
  const what = of === 'password' ? 'password' : 'second factor';
  const where = network === null ? '' : ` from ${network}`;
  return `${what}${where} until ${until.replace(/\.\d+Z$/, 'Z')}`;
}

function noWay({ singleSignOn }: z.output<typeof shownUserView>): string {
  return singleSignOn ? 'no way yet; single sign-on may give one' : 'no way yet';
}

const proofs: Record<z.output<typeof shownUserView>['emailProof'], string> = {
  none: 'not proved',
  auto: 'not proved: this instance sent no mail',
  mail: 'a mailed code',
  domain: 'the organization that owns the domain',
  'former domain': 'an organization that has given the domain up',
  operator: 'the operator',
  social: 'Google or GitHub',
};

const passwordOptions = {
  '--password-stdin': 'read the password from standard input',
  '--password-file <file>': 'read the password from a file',
};

/** Declares `idctl user`. */
export function addUserCommands(program: Command): void {
  const user = noun(
    program,
    'user',
    'Accounts of people, each named by address or id',
    'idctl user list',
  );
  addCreate(user);
  verb(user, 'list', {
    summary: 'List the accounts',
    example: 'idctl user list --json',
    run: async (call) => call.list((await operations()).listUsers, row, 'There are no users.'),
  });
  verb(user, 'show <user>', {
    summary: 'Show one account, the proof of its address, and its credentials',
    example: 'idctl user show ada@example.com',
    run: async (call) => {
      const { showUser } = await import('../../services/tenancy/profile/operations.ts');
      call.show(await call.operate(showUser), shown);
    },
  });
  verb(user, 'disable <user>', {
    summary: 'Shut an account out and end its sessions',
    detail: 'It asks first if an organization has no other active owner.',
    example: 'idctl user disable ada@example.com',
    run: async (call) => {
      const { disableUser, listOwnedAlone } = await operations();
      const owned = await call.operate(listOwnedAlone);
      const alone = `${String(call.input['user'])} is the only active owner of ${owned.join(', ')}.`;
      if (owned.length > 0) await call.confirm(`${alone} Disable the account?`);
      await call.perform(disableUser, block);
    },
  });
  verb(user, 'enable <user>', {
    summary: 'Let a disabled account sign in again',
    example: 'idctl user enable ada@example.com',
    run: async (call) => call.perform((await operations()).enableUser, block),
  });
  verb(user, 'unlock <user>', {
    summary: 'Let an account that is locked try again',
    example: 'idctl user unlock ada@example.com',
    run: async (call) => call.perform((await operations()).unlockUser, block),
  });
  addPassword(user);
  addTotpReset(user);
  addLoginLink(user);
  addDelete(user);
}

function addCreate(user: Command): void {
  verb(user, 'create <email>', {
    summary: 'Create an account; without a password it signs in by other ways',
    required: { '--name <name>': 'full name' },
    options: { '--locale <tag>': 'language, such as en or de-AT', ...passwordOptions },
    example:
      "idctl user create ada@example.com --name 'Ada Byron' \\\n      --password-stdin <password",
    run: async (call) => {
      const { createUser } = await operations();
      const { passwordStdin: stdin, passwordFile: file, ...input } = call.input;
      const password = await givenSecret({ name: 'password', stdin, file });
      const view = await call.perform(createUser, block, { ...input, password });
      if (password !== undefined) return;
      const { commandLine } = await import('../../shell-word.ts');
      const email = String(view.email);
      const setPassword = call.here(commandLine('idctl user password', email));
      const invite = call.here(commandLine('idctl invitation create', email, '--org ORG'));
      call.note(`Next: ${setPassword}, or ${invite}`);
    },
  });
}

const passwordSet: Fields<z.output<typeof passwordSetView>> = [
  ...block,
  ['Sessions ended', (view) => view.ended.sessions],
  ['Tokens ended', (view) => view.ended.tokens],
];

function addPassword(user: Command): void {
  verb(user, 'password <user>', {
    summary: "Set an account's password and end its sessions, codes and tokens",
    detail: 'Apps keep their secrets. On a terminal it asks first when the account has tokens.',
    options: {
      ...passwordOptions,
      '--keep-tokens': 'leave personal tokens and bot tokens as they are',
    },
    example: 'idctl user password ada@example.com --password-stdin <password',
    run: async (call) => {
      const { setUserPassword } = await operations();
      const { passwordStdin: stdin, passwordFile: file, ...input } = call.input;
      if (input['keepTokens'] !== true && canAsk()) await confirmTokensEnd(call);
      const password = await secretOrAsk({ name: 'password', stdin, file }, 'New password', true);
      await call.perform(setUserPassword, passwordSet, { ...input, password });
    },
  });
}

async function confirmTokensEnd(call: Call): Promise<void> {
  const { listTokens } = await import('../../services/people/tokens/operations.ts');
  const { user } = call.input;
  const { length } = await call.every(listTokens.forOperator, { user });
  if (length === 0) return;
  const tokens = length === 1 ? '1 token' : `${length} tokens`;
  call.note('--keep-tokens leaves tokens as they are.');
  await call.confirm(`A new password also ends ${tokens} of ${String(user)}. Continue?`);
}

function addTotpReset(user: Command): void {
  verb(user, 'totp-reset <user>', {
    summary: 'Turn two-factor off for a person who lost the authenticator',
    destroys: true,
    example: 'idctl user totp-reset ada@example.com --yes',
    run: async (call) => {
      const { resetTotp } = await import('../../services/people/two-factor/operations.ts');
      await call.destroy(resetTotp, {
        fields: block,
        question: ({ email, name }) => `Turn two-factor authentication off for ${email ?? name}?`,
        done: ({ email, name }) => `Two-factor authentication is off for ${email ?? name}.`,
      });
    },
  });
}

const link: Fields<z.output<typeof loginLinkView>> = [
  ['Link', (view) => view.url],
  ['Good until', (view) => view.expiresAt],
];

function addLoginLink(user: Command): void {
  verb(user, 'login-link <user>', {
    summary: 'Make a link that signs the account in once, within ten minutes',
    example: 'idctl user login-link ada@example.com',
    run: async (call) => {
      const { createLoginLink } = await import('../../services/signin/methods/link.ts');
      call.showSecret(await call.operate(createLoginLink), link, (view) => view.url);
    },
  });
}

type Deleted = z.output<typeof deletedUserView>;

const slugsOf = ({ ownerless }: Deleted) => ownerless.map(({ slug }) => slug).join(', ');
const deleted: Fields<Deleted> = [...block, ['Without owner', (view) => slugsOf(view) || null]];

function addDelete(user: Command): void {
  verb(user, 'delete <user>', {
    summary: 'Delete an account with its memberships and sessions',
    detail: 'It is never refused: organizations that it leaves without an owner are named.',
    destroys: true,
    example: 'idctl user delete ada@example.com --yes',
    run: async (call) => {
      const { deleteUser } = await import('../../services/tenancy/profile/operations.ts');
      await call.destroy(deleteUser, {
        fields: deleted,
        details: (view) =>
          view.ownerless.length === 0 ? [] : [`No other owner is left in: ${slugsOf(view)}.`],
        question: ({ email, name }) => `Delete the account of ${email ?? name}?`,
        done: ({ email, name, ownerless }) =>
          [
            `Deleted the account of ${email ?? name}.`,
            ...ownerless.map(
              ({ slug }) =>
                `${slug} has no owner now: idctl member add EMAIL --org ${slug} --role owner`,
            ),
          ].join('\n'),
      });
    },
  });
}
