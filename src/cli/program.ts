import { Command, type Help } from 'commander';
import { versionText } from '../version.ts';
import { addAliases, findCommand, otherNames } from './aliases.ts';
import { dressed } from './command.ts';
import { asking, askingBash } from './complete/scripts.ts';
import { report } from './report.ts';

/** All commands by purpose, in the order of the first help page. A file loads when it is needed. */
export const groups: Record<string, Record<string, () => Promise<(program: Command) => void>>> = {
  'Set up and run a server': {
    init: async () => (await import('./commands/init.ts')).addInitCommand,
    serve: async () => (await import('./commands/serve.ts')).addServeCommand,
    migrate: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
    config: async () => (await import('./commands/config.ts')).addConfigCommands,
    mail: async () => (await import('./commands/mail.ts')).addMailCommands,
    completion: async () => (await import('./commands/version.ts')).addCompletionCommand,
    version: async () => (await import('./commands/version.ts')).addVersionCommand,
  },
  'Find out what is wrong': {
    status: async () => (await import('./commands/status.ts')).addStatusCommand,
    doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
    explain: async () => (await import('./commands/explain.ts')).addExplainCommand,
    event: async () => (await import('./commands/event.ts')).addEventCommands,
  },
  'Use a remote server': {
    login: async () => (await import('./commands/login.ts')).addLoginCommand,
    logout: async () => (await import('./commands/login.ts')).addLogoutCommand,
    server: async () => (await import('./commands/login.ts')).addServerCommands,
  },
  'People and their roles': {
    org: async () => (await import('./commands/org.ts')).addOrganizationCommands,
    user: async () => (await import('./commands/user.ts')).addUserCommands,
    member: async () => (await import('./commands/member.ts')).addMemberCommands,
    invitation: async () => (await import('./commands/invitation.ts')).addInvitationCommands,
    project: async () => (await import('./commands/project.ts')).addProjectCommands,
    'project-member': async () => (await import('./commands/project.ts')).addProjectMemberCommands,
    session: async () => (await import('./commands/session.ts')).addSessionCommands,
    identity: async () => (await import('./commands/identity.ts')).addIdentityCommands,
  },
  'Second factors and tokens': {
    totp: async () => (await import('./commands/totp.ts')).addTotpCommands,
    passkey: async () => (await import('./commands/passkey.ts')).addPasskeyCommands,
    'recovery-code': async () =>
      (await import('./commands/recovery-code.ts')).addRecoveryCodeCommands,
    pat: async () => (await import('./commands/pat.ts')).addPatCommands,
    app: async () => (await import('./commands/app.ts')).addAppCommands,
  },
  'Connect providers, directories and applications': {
    domain: async () => (await import('./commands/domain.ts')).addDomainCommands,
    signin: async () => (await import('./commands/signin.ts')).addSignInCommands,
    sso: async () => (await import('./commands/sso.ts')).addSsoCommands,
    ldap: async () => (await import('./commands/ldap.ts')).addLdapCommands,
    scim: async () => (await import('./commands/scim.ts')).addScimCommands,
    mappings: async () => (await import('./commands/mappings.ts')).addMappingCommands,
    client: async () => (await import('./commands/client.ts')).addClientCommands,
    webhook: async () => (await import('./commands/webhook.ts')).addWebhookCommands,
    'setup-link': async () => (await import('./commands/setup-link.ts')).addSetupLinkCommands,
  },
  'Keep an organization as a file': {
    export: async () => (await import('./commands/document.ts')).addExportCommand,
    plan: async () => (await import('./commands/document.ts')).addPlanCommand,
    apply: async () => (await import('./commands/document.ts')).addApplyCommand,
    schema: async () => (await import('./commands/document.ts')).addSchemaCommand,
  },
  'Back up and move': {
    backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
    restore: async () => (await import('./commands/backup.ts')).addRestoreCommand,
    database: async () => (await import('./commands/database.ts')).addDatabaseCommands,
    key: async () => (await import('./commands/key.ts')).addKeyCommands,
  },
};

const declarations = new Map(Object.values(groups).flatMap((group) => Object.entries(group)));

/** Creates all commands, or only `first`. A command loads its operations when it runs. */
export async function createProgram(first = ''): Promise<Command> {
  const program = dressed(new Command('idctl'), "idctl org create 'Acme Ltd'")
    .description('Identity daemon: verified domains and single sign-on, run from the terminal')
    .usage('<command> [options]')
    .option('--json', 'print results and refusals as JSON')
    .option('--config <file>', 'configuration file')
    .option('--server <name>', 'the remote server, by name or URL')
    .option('--quiet', 'print only results and refusals')
    .option('--yes', 'do not ask for confirmation')
    .version(versionText(), '--version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command');
  const { formatHelp } = program.createHelp();
  program.configureHelp({
    showGlobalOptions: true,
    helpWidth: 80,
    formatHelp: (command, helper) =>
      command === program ? firstPage(command, helper) : formatHelp.call(helper, command, helper),
  });
  const only = declarations.get(otherNames[first] ?? first);
  const wanted = only === undefined ? [...declarations.values()] : [only];
  for (const declare of await Promise.all(wanted.map((read) => read()))) declare(program);
  addAliases(program);
  return program;
}

/** The first help page: each command with its summary, by purpose, and then the options. */
function firstPage(program: Command, helper: Help): string {
  const commands = Object.entries(groups).map(([purpose, group]) => {
    const lines = Object.keys(group).map((name) => {
      const [summary] = (findCommand(program, name)?.summary() ?? '').split(/\. |\n/);
      return `  ${name.padEnd(16)} ${summary}`;
    });
    return `${purpose}:\n${lines.join('\n')}`;
  });
  const options = helper.visibleOptions(program).map((option) => {
    return `  ${helper.optionTerm(option).padEnd(16)} ${helper.optionDescription(option)}`;
  });
  return `Usage: ${helper.commandUsage(program)}

${program.description()}

${commands.join('\n\n')}

More help: idctl help <command>. create is also add or new, delete is also rm.

Options:
${options.join('\n')}
`;
}

/** Runs one command line; returns the exit code of the process. */
export async function main(argv: string[]): Promise<number> {
  const program = await createProgram(argv[0]);
  if (argv[0] === asking) {
    const { answerShell } = await import('./complete/answer.ts');
    await answerShell(program, argv.slice(1));
    return 0;
  }
  if (argv[0] === askingBash) {
    const { answerBash } = await import('./complete/answer.ts');
    await answerBash(program, argv.slice(1));
    return 0;
  }
  let running: Command | undefined;
  program.hook('preAction', (_program, command) => {
    running = command;
  });
  try {
    await program.parseAsync(spelledOut(program, argv), { from: 'user' });
    return 0;
  } catch (error) {
    return failed(error, argv, running);
  }
}

// Turns `help sso set` into `sso set --help`, because commander reads only the first name. Turns
// `--version --json` into the `version` command, which can print JSON.
function spelledOut(program: Command, argv: string[]): string[] {
  const options = new Set(argv);
  if (argv.length === 2 && options.has('--version') && options.has('--json'))
    return ['version', '--json'];
  if (argv[0] !== 'help') return argv;
  let found = program;
  const path: string[] = [];
  for (const name of argv.slice(1)) {
    if (found.commands.length === 0) break;
    const next = findCommand(found, name);
    if (next === undefined) return [...path, name];
    path.push(next.name());
    found = next;
  }
  return [...path, '--help'];
}

/** Reports why a command line failed; returns the exit code. */
export function failed(error: unknown, argv: string[], command?: Command): number {
  return report(error, { json: asksJson(argv), command });
}

/** Whether refusals are printed as JSON, even if the rest of the command line could not be read. */
function asksJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
