import type { Command } from 'commander';
import { alike } from '../../src/cli/aliases.ts';
import { leavesOf, optionEntry, verbSection } from './commands.ts';
import {
  bold,
  entry,
  example,
  heading,
  italic,
  page,
  paragraph,
  type Roff,
  sentence,
  text,
  title,
} from './roff.ts';

/** The page of idctl itself: the parts that commands share, and the commands without a group. */
export function programPage(program: Command, version: string): Roff {
  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  const single = program.commands.filter(({ commands }) => commands.length === 0);
  return [
    title('idctl', 1, version),
    heading('NAME'),
    `idctl \\- ${text(program.description())}\n`,
    heading('SYNOPSIS'),
    `${bold('idctl')} ${italic('command')} [${italic('options')}]\n`,
    heading('DESCRIPTION'),
    ...description,
    heading('GROUPS OF COMMANDS'),
    ...groups.map((group) => entry(page(`idctl-${group.name()}`, 1), firstLine(group))),
    heading('COMMANDS OF THE INSTANCE'),
    ...single.flatMap(leavesOf).map(verbSection),
    heading('OPTIONS OF EVERY COMMAND'),
    ...program.options.map(optionEntry),
    entry(`${bold('-h')}, ${bold('--help')}`, 'Show the help of the command, with an example.'),
    heading('EXIT STATUS'),
    ...exitCodes.map(([code, said]) => entry(bold(code), text(said))),
    heading('ENVIRONMENT'),
    ...environment.map(([name, said]) => entry(bold(name), text(said))),
    heading('FILES'),
    ...files.map(([names, said]) => entry(names.map(italic).join(', '), text(said))),
    heading('EXAMPLES'),
    paragraph('From nothing to an organization whose people sign in at their own provider:'),
    example(walk),
    heading('SEE ALSO'),
    paragraph(
      [page('idctl.yaml', 5), ...groups.map((group) => page(`idctl-${group.name()}`, 1))].join(
        ', ',
      ),
    ),
  ].join('');
}

function firstLine(command: Command): Roff {
  return sentence(command.description().split(/\. |\n/)[0] ?? '');
}

const description = [
  paragraph(
    `${bold('idctl serve')} is a daemon that signs in the people of organizations: domains verified over the DNS, single sign\\-on by OpenID Connect, directories by LDAP, provisioning by SCIM 2.0.`,
  ),
  paragraph(
    "On the host of the daemon, every other command acts as the operator: a user who can read the database and the key file may do everything. The commands use the daemon's database, whether the daemon runs or not.",
  ),
  paragraph(
    `On another host, most commands work through the API of a server, which ${bold('--server')}, ${bold('IDCTL_SERVER')} or ${bold('idctl login')} names. They have the rights of your token.`,
  ),
  paragraph(
    'Results go to standard output, everything else to standard error. A pipe does not get a colour and whole values. Without a terminal, a command does not ask a question and names the missing option. Secrets come from a prompt, from standard input, from a file or from the environment, never from an argument. The only exception is the code of an authenticator, which is valid once.',
  ),
  paragraph(
    `Some verbs have aliases: ${alike.map(aliasesOf).join('; ')}. A group's page names the verb that it has.`,
  ),
];

function aliasesOf({ verbs, words }: (typeof alike)[number]): Roff {
  const others = words.map((word) => bold(word)).join(', ');
  return `${others} for ${verbs.map((verb) => bold(verb)).join(' or ')}`;
}

const exitCodes = [
  ['0', 'Done.'],
  ['1', 'Refused, or a check failed.'],
  ['2', 'Wrong usage: an option, a value, the configuration.'],
  ['3', 'Something cannot be reached or is not ready: the database, the key, the provider.'],
  ['8', 'Not yet: the DNS does not have the record of the domain.'],
  ['70', 'A bug of idctl.'],
  [
    '130',
    'Ended by Ctrl-C before it was done. serve and event tail run until Ctrl-C, and end with 0.',
  ],
] as const;

const environment = [
  ['IDCTL_CONFIG', 'The configuration file, if --config names none.'],
  ['IDCTL_ORG', 'The organization, if --org names none.'],
  ['IDCTL_SERVER', 'The remote server, by name or URL, if --server names none.'],
  ['IDCTL_TOKEN, IDCTL_TOKEN_FILE', 'The token for the remote server, or a file that contains it.'],
  ['IDCTL_CA_FILE', 'The certificate authority of the remote server, a PEM file.'],
  ['IDCTL_...', 'Every setting has a variable, which overrides the file; see idctl.yaml(5).'],
  ['IDCTL_DATABASE', 'Short for IDCTL_DATABASE_URL.'],
  ['NO_COLOR', 'No colour, whatever its value, unless it is empty.'],
  ['XDG_CONFIG_HOME, XDG_DATA_HOME', "The folders of a user's configuration, key and database."],
] as const;

const files = [
  [
    ['/etc/idctl/idctl.yaml', '$XDG_CONFIG_HOME/idctl/idctl.yaml'],
    'The configuration; see idctl.yaml(5).',
  ],
  [
    ['/etc/idctl/master.key', '$XDG_CONFIG_HOME/idctl/master.key'],
    'The key that opens stored secrets. Keep a copy apart from the backups.',
  ],
  [['/var/lib/idctl/idctl.db', '$XDG_DATA_HOME/idctl/idctl.db'], 'The embedded database.'],
  [['$XDG_CONFIG_HOME/idctl/servers.yaml'], 'The servers that you have logged in to, with tokens.'],
] as const;

const walk = `$ idctl init --base-url https://id.example.com --org 'Acme Ltd' \\
      --owner ada@acme.com
$ idctl domain add acme.com --org acme-ltd
$ idctl domain verify acme.com --org acme-ltd --wait
$ idctl sso set --org acme-ltd --domain acme.com --client-id idctl \\
      --issuer https://idp.acme.com --secret-file secret.txt
$ idctl sso test --org acme-ltd
$ idctl sso enable --org acme-ltd
$ idctl doctor`;
