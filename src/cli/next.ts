import { type Environment, systemFile } from '../config/paths.ts';
import { hasUnit } from '../config/unit-credentials.ts';
import { asTyped } from '../host/typed-program.ts';
import {
  isHintField,
  isUnworded,
  type Next,
  type OperationName,
  partsOf,
  type Todo,
  worded,
} from '../next.ts';
import { shellWord } from '../text/shell-word.ts';
import { reachOfWord } from './reach.ts';

interface Named {
  config?: string | undefined;
  server?: string | undefined;
}

let instance: Named = {};

/** Lets each suggested command name the same instance as the running command. */
export function nameInstance({ config, server }: Named): void {
  instance = server === undefined ? { config } : { server };
}

/**
 * A suggested command as it is typed here. `--config` or `--server` names the same instance, if the
 * running command had it.
 */
export function here(command: string): string {
  const reach = reachOfWord(command.split(' ')[1] ?? '');
  const { config, server } = instance;
  const option =
    config !== undefined && reach !== 'anywhere'
      ? ` --config ${shellWord(config)}`
      : server !== undefined && reach === 'both'
        ? ` --server ${shellWord(server)}`
        : '';
  // After `--`, it would be an argument.
  return asTyped(command.replace(/(?= -- '?-)|$/, () => option));
}

/** The command for each operation. Its arguments stand in angle brackets, by their names. */
export const commands: Record<OperationName, string> = {
  'app.regenerate': 'app regenerate <id>',
  'app.set': 'app set <id> [--org <org>]',
  apply: 'apply --file <file> [--org <org>]',
  backup: 'backup <file>',
  'client.add-redirect': 'client set <client> [--org <org>] --add-redirect-uri <uri>',
  'client.allow-origin': 'client set <client> [--org <org>] --add-forward-auth-origin <origin>',
  'client.list': 'client list [--org <org>]',
  'client.make-confidential': 'client set <client> [--org <org>] --no-public',
  'client.remove': 'client remove <client> [--org <org>]',
  'client.rotate': 'client rotate <client> [--org <org>]',
  'client.set': 'client set <client> [--org <org>]',
  'database.move': 'database move --to <to>',
  doctor: 'doctor',
  'doctor.confirm-clock': 'doctor --confirm-clock',
  'domain.add': 'domain add <domain> [--org <org>]',
  'domain.list': 'domain list [--org <org>]',
  'domain.override': 'domain add <domain> [--org <org>] --override',
  'domain.verify': 'domain verify <domain> [--org <org>]',
  'identity.list': 'identity list --user <user>',
  'identity.unlink': 'identity unlink --user <user>',
  init: 'init',
  'invitation.create': 'invitation create <email> [--org <org>] [--role <role>]',
  'invitation.list': 'invitation list [--org <org>]',
  'key.list': 'key list',
  'ldap.approve': 'ldap approve [--org <org>]',
  'ldap.create':
    'ldap set [--org <org>] --uri <uri> --bind-dn <dn> --password-stdin --search-base <base> --search-filter <filter> --email-attribute <attribute>',
  'ldap.relink': 'ldap relink [--org <org>]',
  'ldap.set-password': 'ldap set [--org <org>] --password-stdin',
  'ldap.test': 'ldap test [--org <org>]',
  'mappings.list': 'mappings list [--org <org>]',
  'member.add': 'member add <email> [--org <org>] --role <role>',
  'member.add-trusted': 'member add <email> [--org <org>] --role <role> --keep-credentials',
  'member.remove': 'member remove <user> [--org <org>]',
  'member.role': 'member role <user> [--org <org>] --role <role>',
  migrate: 'migrate',
  'org.create': 'org create <name>',
  'org.list': 'org list',
  'passkey.list': 'passkey list --user <user>',
  'pat.create': 'pat create --user <user> --name <name> [--scope <scope>]',
  plan: 'plan --file <file> [--org <org>]',
  'project-member.add': 'project-member add <user> [--org <org>] --project <project> --role <role>',
  'project-member.role':
    'project-member role <user> [--org <org>] --project <project> --role <role>',
  'project.list': 'project list [--org <org>]',
  restore: 'restore <file>',
  'scim.groups': 'scim groups [--org <org>]',
  'scim.log': 'scim log [--org <org>]',
  'scim.token.rotate': 'scim token rotate [--org <org>]',
  serve: 'serve',
  'setup-link.list': 'setup-link list [--org <org>]',
  'signin.show': 'signin show [--org <org>]',
  'sso.approve': 'sso approve [--org <org>]',
  'sso.attempts': 'sso attempts [--org <org>]',
  'sso.create':
    'sso set [--org <org>] --domain <domain> --issuer <url> --client-id <id> --secret-stdin',
  'sso.relink': 'sso relink [--org <org>] --from-issuer <url>',
  'sso.set': 'sso set [--org <org>] [--absent-groups <absentGroups>]',
  'sso.test': 'sso test [--org <org>]',
  'totp.enroll': 'totp enroll',
  'user.create': 'user create <email> --name <name>',
  'user.delete': 'user delete <user>',
  'user.enable': 'user enable <user>',
  'user.list': 'user list',
  'user.login-link': 'user login-link <user>',
  'user.password': 'user password <user>',
  'user.remove-factors': 'user totp-reset <user> --passkeys',
  'user.show': 'user show <user>',
  'user.unlock': 'user unlock <user>',
  'webhook.deliveries': 'webhook deliveries <id> [--org <org>]',
  'webhook.enable': 'webhook enable <id> [--org <org>]',
  'webhook.list': 'webhook list [--org <org>]',
};

/** Says what to do next, with commands that can be copied; undefined for nothing. */
export function commandText(next: Next): string;
export function commandText(next: Next | undefined): string | undefined;
export function commandText(next: Next | undefined): string | undefined {
  return worded(next, (todo) => {
    const lead = todo.say === undefined ? purpose(todo) : `${todo.say}: `;
    return { text: `${lead}${commandOf(todo)}`, ends: true };
  });
}

function purpose({ to, by }: Todo): string {
  if (to === undefined) return '';
  return by === undefined ? `To ${to}, run: ` : `To ${to}, the operator runs: `;
}

/** Whether the hint has a part that a person may copy, so that it stays on one line. */
export function isCopied(next: Next): boolean {
  return partsOf(next).some((part) => typeof part !== 'string');
}

/**
 * Starts the daemon: its unit, if systemd runs the instance that root has set up. Not yet as it is
 * typed here.
 */
export function startCommand(env: Environment, configFile: string | undefined): string {
  const isOfUnit = (configFile ?? (env['IDCTL_CONFIG'] || systemFile())) === systemFile();
  return isOfUnit && hasUnit(env) ? 'systemctl start idctl' : 'idctl serve';
}

/** The command that starts the daemon of the same instance, as it is typed here. */
export function startHere(): string {
  const start = startCommand(process.env, instance.config);
  return start === 'idctl serve' ? here(start) : asTyped(start);
}

const placeholders: Record<string, string> = { user: 'EMAIL' };

/** The command with its arguments as words of a shell, and placeholders for the unknown ones. */
export function commandOf({ operation, with: given = {}, by }: Todo): string {
  if (operation === 'serve') return startHere();
  const values: Record<string, string | undefined> = { ...given };
  const spelling = commands[operation].replace(/ \[(--\S+ <(\w+)>)\]/g, (_, option, name) =>
    values[name] === undefined ? '' : ` ${option}`,
  );
  const [words, dashed]: [string[], string[]] = [['idctl'], []];
  for (const token of spelling.split(' ')) {
    const [, name] = /^<(\w+)>$/.exec(token) ?? [];
    const value =
      name === undefined ? undefined : (values[name] ?? placeholders[name] ?? name.toUpperCase());
    if (value === undefined) words.push(token);
    // Commander would read an argument that begins with a dash as an option.
    else if (/^-./.test(value) && !words.at(-1)?.startsWith('--')) dashed.push(shellWord(value));
    else words.push(shellWord(value));
  }
  const command = [...words, ...(dashed.length === 0 ? [] : ['--', ...dashed])].join(' ');
  // The operator runs it on the host of the server.
  return by === 'operator' && instance.server !== undefined ? asTyped(command) : here(command);
}

/** A replacer for `JSON.stringify`, which writes the hints of a view as text. */
export function hintsAsText(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || !isHintField(key)) return value;
  return isUnworded(value) ? commandText(value) : value;
}
