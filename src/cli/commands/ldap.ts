import type { Command } from 'commander';
import type { z } from 'zod';
import { refuseField } from '../../errors.ts';
import type { ldapRelinkedView, ldapView } from '../../services/tenancy/ldap/connection.ts';
import type { LdapSettingName } from '../../services/tenancy/ldap/schema.ts';
import { ldapWords } from '../../services/tenancy/ldap/words.ts';
import { persons } from '../../text/words.ts';
import { noun, org, verb } from '../command.ts';
import {
  approvalFields,
  approveConnection,
  disableConnection,
  enableConnection,
  force,
  relinkPeople,
  removeConnection,
  requirePassed,
  tellWaiting,
  withSecret,
} from '../connection.ts';
import { sessionsEndedField } from '../consequences.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import type { Fields } from '../output.ts';
import { givenSecret, readNamedFile } from '../prompt.ts';
import type { Call } from '../run.ts';
import { fieldsOf, optionsOf } from '../settings.ts';

const operations = () => import('../../services/tenancy/ldap/operations.ts');
const tests = () => import('../../services/signin/methods/ldap/test.ts');

type Connection = z.output<typeof ldapView>;
type Input = Record<string, unknown>;

const fields: Fields<Connection> = [
  ['Enabled', (view) => view.enabled],
  ...approvalFields,
  ...fieldsOf<LdapSettingName, Connection>(ldapWords, {
    caCertificate: (view) => (view.caCertificate === null ? null : 'set'),
    bindPassword: (view) => (view.hasBindPassword ? 'stored' : null),
  }),
];

const called = ({ uri }: Connection) => uri;

export function addLdapCommands(program: Command): void {
  const ldap = noun(program, 'ldap', {
    summary: "Sign-in through an organization's LDAP directory",
    example: 'idctl ldap show --org acme',
  });
  verb(ldap, 'set', {
    summary: 'Create the connection, or change the given settings',
    required: org,
    options: {
      ...optionsOf(ldapWords),
      '--password-stdin': 'read the bind password from standard input',
      '--password-file <file>': 'read the bind password from a file',
      ...force('directory'),
    },
    detail: 'If the connection is enabled, it tests the directory first, and asks if a step fails.',
    example: `idctl ldap set --org acme --uri ldaps://ldap.acme.com \\
      --bind-dn cn=idctl,dc=acme,dc=com --password-stdin \\
      --search-base ou=people,dc=acme,dc=com \\
      --search-filter '(uid={username})' --email-attribute mail <password`,
    run: set,
  });
  verb(ldap, 'show', {
    summary: 'Show the connection, without its password',
    required: org,
    example: 'idctl ldap show --org acme',
    run: async (call) => call.perform((await operations()).showLdap, fields),
  });
  verb(ldap, 'enable', {
    summary: 'Let people sign in; needs a verified domain',
    required: org,
    example: 'idctl ldap enable --org acme',
    detail: 'It tests the directory first, as idctl ldap test does. If a step fails, it asks.',
    options: force('directory'),
    run: async (call) => {
      const { enableLdap } = await operations();
      const view = await enableConnection(call, enableLdap, fields, requireUsable);
      await tellWaiting(call, 'ldap', view);
    },
  });
  verb(ldap, 'disable', {
    summary: 'Stop new sign-ins; the connection stays',
    required: org,
    rehearsable: true,
    example: 'idctl ldap disable --org acme --yes',
    run: async (call) =>
      disableConnection(call, (await operations()).disableLdap, {
        fields,
        change: 'ldap.disable',
      }),
  });
  verb(ldap, 'approve', {
    summary: 'Let owners sign in through it: approve where the connection points',
    required: org,
    rehearsable: true,
    detail:
      'If another person or a token changed where a connection points, an owner must approve it. Until then, owners cannot sign in through it. A token cannot approve: an owner approves on the account page, or the operator runs this command on the host.',
    example: 'idctl ldap approve --org acme --yes',
    run: async (call) => {
      const { approveLdap, showLdap } = await operations();
      await approveConnection(call, { show: showLdap, approve: approveLdap, fields, called });
    },
  });
  verb(ldap, 'test', {
    summary: 'Test the directory step by step; exit 1 if a step fails',
    required: org,
    options: {
      '--username <name>': 'test the filter with this user name',
      '--password-stdin': "test a full sign-in; read the user's password from standard input",
      ...optionsOf(ldapWords),
      '--bind-password-file <file>': 'read the bind password to test from a file',
    },
    example: 'idctl ldap test --org acme --username ada --password-stdin <password',
    run: test,
  });
  verb(ldap, 'relink', {
    summary: 'After a change of server, link people again at their next sign-in',
    required: org,
    rehearsable: true,
    example: 'idctl ldap relink --org acme --dry-run',
    run: async (call) =>
      relinkPeople(call, (await operations()).relinkLdap, {
        fields: relinked,
        question: ({ people, uri }) =>
          `Unlink the entries of ${persons(people)}? At their next sign-in, ${uri} decides who has each address.`,
      }),
  });
  verb(ldap, 'remove', {
    summary: 'Remove the connection and end its sessions; accounts stay',
    required: org,
    destroys: true,
    example: 'idctl ldap remove --org acme --yes',
    run: async (call) =>
      removeConnection(call, (await operations()).removeLdap, {
        fields,
        change: 'ldap.remove',
      }),
  });
}

async function set(call: Call): Promise<void> {
  const { changeLdap } = await operations();
  const { passwordStdin: stdin, passwordFile: file, force: unasked, ...rest } = call.input;
  const input = await asFields(rest);
  const given = await givenSecret({ name: 'password', stdin, file });
  const save = async (bindPassword: string | undefined) => {
    const whole = { ...input, bindPassword };
    const { enabled } = await call.rehearse(changeLdap, whole);
    if (enabled && unasked !== true) await requireUsable(call, whole);
    return call.operate(changeLdap, whole);
  };
  const view = await withPassword(given, save);
  call.show(view, fields);
  await tellWaiting(call, 'ldap', view);
}

/** Tests the directory with these settings. Asks if a step fails. */
async function requireUsable(call: Call, input: Input): Promise<void> {
  const { testLdap } = await tests();
  await requirePassed(call, 'directory', await call.operate(testLdap, input));
}

/** The settings by their names in the view. `--no-ca-file` and `--no-groups-attribute` are null. */
async function asFields({ caFile, groupsAttribute, ...rest }: Input): Promise<Input> {
  return {
    ...rest,
    ...(groupsAttribute === undefined ? {} : { groupsAttribute: groupsAttribute || null }),
    ...(caFile === undefined
      ? {}
      : {
          caCertificate: caFile ? String(await readNamedFile('--ca-file', String(caFile))) : null,
        }),
  };
}

/** Runs `work` with the given bind password. If only the password is missing, asks for it. */
function withPassword<View>(
  secret: string | undefined,
  work: (password: string | undefined) => Promise<View>,
): Promise<View> {
  return withSecret({ name: 'bindPassword', question: 'Bind password', secret }, work);
}

async function test(call: Call): Promise<void> {
  const { testLdap } = await tests();
  const { passwordStdin: stdin, bindPasswordFile: file, ...rest } = call.input;
  if (stdin === true && rest['username'] === undefined) {
    throw refuseField(
      '--username',
      "is required with --password-stdin, which reads that user's password",
    );
  }
  const password = await givenSecret({ name: 'password', stdin, file: undefined });
  const input = { ...(await asFields(rest)), ...(password === undefined ? {} : { password }) };
  const given = await givenSecret({ name: 'bind-password', stdin: undefined, file });
  const look = (bindPassword: string | undefined) =>
    call.operate(testLdap, { ...input, bindPassword });
  const view = await withPassword(given, look);
  await tellOlderDaemon(call);
  call.examination(view);
}

const relinked: Fields<z.output<typeof ldapRelinkedView>> = [
  ['Server now', (view) => view.uri],
  ['People', (view) => view.people],
  sessionsEndedField,
];
