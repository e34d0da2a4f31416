import { Command } from 'commander';
import { readVersion } from '../version.ts';
import { dressed } from './command.ts';
import { addAppCommands } from './commands/app.ts';
import { addBackupCommand } from './commands/backup.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConfigCommands } from './commands/config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addDomainCommands } from './commands/domain.ts';
import { addEventCommands } from './commands/event.ts';
import { addIdentityCommands } from './commands/identity.ts';
import { addInitCommand } from './commands/init.ts';
import { addInvitationCommands } from './commands/invitation.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLdapCommands } from './commands/ldap.ts';
import { addMappingCommands } from './commands/mappings.ts';
import { addMemberCommands } from './commands/member.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrganizationCommands } from './commands/org.ts';
import { addPatCommands } from './commands/pat.ts';
import { addProjectCommands } from './commands/project.ts';
import { addProjectMemberCommands } from './commands/project-member.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addScimCommands } from './commands/scim.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSessionCommands } from './commands/session.ts';
import { addSignInCommands } from './commands/signin.ts';
import { addSsoCommands } from './commands/sso.ts';
import { addStatusCommand } from './commands/status.ts';
import { addTotpCommands } from './commands/totp.ts';
import { addUserCommands } from './commands/user.ts';
import { addVersionCommand } from './commands/version.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { asking } from './complete/asking.ts';
import { report } from './report.ts';

/** Every command with its options and help; what a command does is imported only when it runs. */
export function createProgram(): Command {
  const program = dressed(new Command('idctl'), "idctl org create 'Acme Ltd'")
    .description('Identity daemon: verified domains and single sign-on, run from the terminal')
    .usage('<command> [options]')
    .option('--json', 'print results and refusals as JSON')
    .option('--config <file>', 'configuration file')
    .option('--quiet', 'print only results and refusals')
    .option('--yes', 'do not ask before destroying')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command');
  addInitCommand(program);
  addServeCommand(program);
  addMigrateCommand(program);
  addConfigCommands(program);
  addStatusCommand(program);
  addDoctorCommand(program);
  addOrganizationCommands(program);
  addUserCommands(program);
  addTotpCommands(program);
  addMemberCommands(program);
  addInvitationCommands(program);
  addProjectCommands(program);
  addProjectMemberCommands(program);
  addSessionCommands(program);
  addIdentityCommands(program);
  addPatCommands(program);
  addAppCommands(program);
  addDomainCommands(program);
  addSignInCommands(program);
  addSsoCommands(program);
  addLdapCommands(program);
  addScimCommands(program);
  addMappingCommands(program);
  addEventCommands(program);
  addWebhookCommands(program);
  addKeyCommands(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addCompletionCommand(program);
  addVersionCommand(program);
  return program;
}

/** Runs one command line; answers the exit code of the process. */
export async function main(argv: string[]): Promise<number> {
  const program = createProgram();
  if (argv[0] === asking) {
    const { answerShell } = await import('./complete/answer.ts');
    await answerShell(program, argv.slice(1));
    return 0;
  }
  let running: Command | undefined;
  program.hook('preAction', (_program, command) => {
    running = command;
  });
  try {
    await program.parseAsync(helpSpelledOut(program, argv), { from: 'user' });
    return 0;
  } catch (error) {
    return failed(error, argv, running);
  }
}

// `help sso set` is `sso set --help`; commander reads no name after the first, and passes over a wrong one.
function helpSpelledOut(program: Command, argv: string[]): string[] {
  if (argv[0] !== 'help') return argv;
  let found = program;
  const path: string[] = [];
  for (const name of argv.slice(1)) {
    if (found.commands.length === 0) break;
    const next = found.commands.find((command) => command.name() === name);
    if (next === undefined) return [...path, name];
    path.push(name);
    found = next;
  }
  return [...path, '--help'];
}

/** Says why the command line came to nothing; answers the exit code. */
export function failed(error: unknown, argv: string[], command?: Command): number {
  return report(error, { json: asksJson(argv), command });
}

/** Whether refusals are wanted as JSON, also when the rest of the command line could not be read. */
function asksJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
