import type { Command } from 'commander';
import type { z } from 'zod';
import type { userView } from '../../services/people/accounts/account.ts';
import type { loginLinkView } from '../../services/people/sessions/schema.ts';
import type { totpResetView } from '../../services/people/two-factor/operations.ts';
import type { passwordSetView, shownUserView } from '../../services/people/users/operations.ts';
import type { deletedUserView } from '../../services/tenancy/profile/operations.ts';
import { counted } from '../../text/words.ts';
import { noun, verb } from '../command.ts';
import { credentialText } from '../consequences.ts';
import { commandText } from '../next.ts';
import type { Fields } from '../output.ts';
import { canAsk, secretOrAsk } from '../prompt.ts';
import type { Call } from '../run.ts';
import { addUserCreate, block, passwordOptions } from './user-create.ts';

const operations = () => import('../../services/people/users/operations.ts');

type User = z.output<typeof userView>;
type TotpReset = z.output<typeof totpResetView>;
type Lockout = z.output<typeof shownUserView>['lockouts'][number];

const row: Fields<User> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Name', (view) => view.name],
  ['Disabled', (view) => view.disabled],
  ['Created', (view) => view.createdAt],
];

const shown: Fields<z.output<typeof shownUserView>> = [
  ...block,
  [
    'Proof',
    (view) =>
      view.awaitsCode ? 'not verified: waiting for a mailed code' : proofs[view.emailProof],
  ],
  ['Locked', (view) => view.lockouts.map(lockoutText).join('; ') || 'no'],
  ['Signs in with', (view) => view.credentials.map(credentialText).join('; ') || noWay(view)],
];

function lockoutText({ of, network, until }: Lockout): string {
  const what = of === 'password' ? 'password' : 'second factor';
  const where = network === null ? '' : ` from ${network}`;
  return `${what}${where} until ${until.replace(/\.\d+Z$/, 'Z')}`;
}

function noWay({ singleSignOn }: z.output<typeof shownUserView>): string {
  return singleSignOn ? 'nothing yet, but single sign-on may work' : 'nothing yet';
}

const proofs: Record<z.output<typeof shownUserView>['emailProof'], string> = {
  none: 'not verified',
  auto: 'not verified: this instance did not send mail',
  mail: 'a mailed code',
  domain: 'the organization that owns the domain',
  'former domain': 'an organization that has since given up the domain',
  operator: 'the operator',
  social: 'Google or GitHub',
};

export function addUserCommands(program: Command): void {
  const user = noun(program, 'user', {
    summary: 'Accounts, each named by address or id',
    example: 'idctl user list',
  });
  addUserCreate(user);
  verb(user, 'list', {
    summary: 'List the accounts',
    example: 'idctl user list --json',
    run: async (call) => call.list((await operations()).listUsers, row, 'There are no accounts.'),
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
    summary: 'Disable an account and end its sessions',
    detail:
      'On a terminal, it asks for confirmation. In a script, it needs --yes only if an organization has no other active owner.',
    rehearsable: true,
    example: 'idctl user disable ada@example.com --yes',
    run: disable,
  });
  verb(user, 'enable <user>', {
    summary: 'Let a disabled account sign in again',
    example: 'idctl user enable ada@example.com',
    run: async (call) => call.perform((await operations()).enableUser, block),
  });
  verb(user, 'unlock <user>', {
    summary: 'End the lockouts of an account',
    example: 'idctl user unlock ada@example.com',
    run: async (call) => call.perform((await operations()).unlockUser, block),
  });
  verb(user, 'password <user>', {
    summary: "Set an account's password and end its sessions, codes and tokens",
    detail:
      'Apps keep their secrets. If the account has tokens, the command asks first, unless there is no terminal.',
    options: {
      ...passwordOptions,
      '--keep-tokens': 'keep personal tokens and bot tokens',
    },
    rehearsable: true,
    example: 'idctl user password ada@example.com --password-stdin <password',
    run: async (call) => {
      const { setUserPassword } = await operations();
      const { passwordStdin: stdin, passwordFile: file, ...input } = call.input;
      const asks = input['keepTokens'] !== true && !call.flags.dryRun && canAsk();
      if (asks) await confirmTokensEnd(call);
      const password = await secretOrAsk({ name: 'password', stdin, file }, 'New password', true);
      const given = { ...input, password };
      const { passkeysLeft: left } = await call.perform(setUserPassword, passwordSet, given);
      if (left === 0) return;
      const { passkeysLeft } = await import('../../services/people/two-factor/operations.ts');
      call.note(commandText(passkeysLeft(left, String(input['user']))));
    },
  });
  verb(user, 'totp-reset <user>', {
    summary: 'Turn off two-factor authentication for a person who lost the app',
    options: { '--passkeys': 'remove all passkeys too' },
    destroys: true,
    example: 'idctl user totp-reset ada@example.com --yes',
    run: async (call) => {
      const { resetTotp } = await import('../../services/people/two-factor/operations.ts');
      await call.destroy(resetTotp, {
        fields: totpReset,
      });
    },
  });
  verb(user, 'login-link <user>', {
    summary: 'Create a link that signs the account in once, within ten minutes',
    example: 'idctl user login-link ada@example.com',
    run: async (call) => {
      const { createLoginLink } = await import('../../services/signin/methods/link.ts');
      const view = await call.operate(createLoginLink);
      call.showSecret(view, link, ({ url }) => url, 'Copy the link now: it is not shown again.');
    },
  });
  verb(user, 'delete <user>', {
    summary: 'Delete an account with its memberships and sessions',
    detail: 'It also works for the last owner, and names organizations that then have no owner.',
    destroys: true,
    example: 'idctl user delete ada@example.com --yes',
    run: async (call) => {
      const { deleteUser } = await import('../../services/tenancy/profile/operations.ts');
      await call.destroy(deleteUser, {
        fields: deleted,
      });
    },
  });
}

const passwordSet: Fields<z.output<typeof passwordSetView>> = [
  ...block,
  ['Sessions ended', (view) => view.ended.sessions],
  ['Tokens ended', (view) => view.ended.tokens],
];

async function disable(call: Call): Promise<void> {
  const { disableUser, listOwnedAlone } = await operations();
  const user = String(call.input['user']);
  const owned = await call.operate(listOwnedAlone);
  const alone = `${user} is the only active owner of ${owned.join(', ')}. `;
  const question = `${owned.length > 0 ? alone : ''}Disable the account of ${user}? Its sessions end.`;
  // A script must be able to disable an account in an emergency. So without a terminal, this asks
  // only if an organization would have no other active owner.
  if (!call.flags.dryRun && (owned.length > 0 || canAsk())) await call.confirm(question);
  await call.perform(disableUser, block);
}

async function confirmTokensEnd(call: Call): Promise<void> {
  const { listTokens } = await import('../../services/people/tokens/operations.ts');
  const { user } = call.input;
  const { length } = await call.every(listTokens.forOperator, { user });
  if (length === 0) return;
  call.note('--keep-tokens keeps the tokens.');
  await call.confirm(
    `A new password also ends ${counted(length, 'token')} of ${String(user)}. Continue?`,
  );
}

const totpReset: Fields<TotpReset> = [
  ...block,
  ['Authenticator app', (view) => (view.authenticatorRemoved ? 'removed' : 'none')],
  ['Passkeys', (view) => `${view.passkeysRemoved} removed, ${view.passkeysLeft} left`],
];

const link: Fields<z.output<typeof loginLinkView>> = [
  ['Link', (view) => view.url],
  ['Expires', (view) => view.expiresAt],
];

type Deleted = z.output<typeof deletedUserView>;

const slugsOf = ({ ownerless }: Deleted) => ownerless.map(({ slug }) => slug).join(', ');
const deleted: Fields<Deleted> = [...block, ['Without owner', (view) => slugsOf(view) || null]];
