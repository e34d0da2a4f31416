import { type Command, type CommanderError, Help } from 'commander';
import { Refusal, refuseField } from '../errors.ts';
import { findCommand } from './aliases.ts';
import type { Flags } from './operator.ts';
import { hostOnly, reachOf } from './reach.ts';
import type { Call } from './run.ts';

/** The help texts, options and action of a verb. */
interface Verb {
  summary: string;
  /** Further paragraphs of the help; indented paragraphs keep their form. */
  detail?: string;
  /** Flags with their placeholder, each with a line of help. */
  options?: Record<string, string>;
  /** Options that the command requires. */
  required?: Record<string, string>;
  /** The command cannot be undone: it asks for confirmation and has `--dry-run`. */
  destroys?: true;
  /** The command creates an object: it has `--if-absent` and `--dry-run`. */
  makes?: true;
  /** The command can be undone, but has `--dry-run` to show its effect. */
  rehearsable?: true;
  /** A command line that works as typed. */
  example: string;
  run: (call: Call) => Promise<unknown>;
}

// `--org` is optional if IDCTL_ORG is set or there is only one organization.
const orgOption = '--org <org>';
// `--user` is optional on a remote server: there the token's account is used.
const userOption = '--user <user>';

/** The option of commands about an organization. */
export const org = { [orgOption]: 'the organization, by id or slug' };

/** The option of commands about an account. */
export const user = { [userOption]: 'the account, by address or id' };

/** Declares a command that only groups verbs, such as `idctl org`. */
export function noun(
  program: Command,
  name: string,
  { summary, example }: Pick<Verb, 'summary' | 'example'>,
): Command {
  const command = dressed(program.command(name).summary(summary), example);
  return command.description(reachOf(command) === 'host' ? `${summary}\n\n${hostOnly}` : summary);
}

/** Declares a command; its arguments and options reach `run` in one object, by their names. */
export function verb(parent: Command, signature: string, spec: Verb): void {
  const command = dressed(parent.command(signature).summary(spec.summary), spec.example);
  const where = reachOf(command) === 'host' ? hostOnly : undefined;
  const paragraphs = [spec.summary, spec.detail, where];
  command.description(paragraphs.filter((text) => text !== undefined).join('\n\n'));
  for (const [flags, help] of Object.entries(spec.required ?? {})) {
    if (flags === orgOption) command.option(flags, `${help} (or IDCTL_ORG)`);
    else if (flags === userOption && reachOf(command) === 'both')
      command.option(flags, `${help} (required; on a remote server, default: yourself)`);
    else command.requiredOption(flags, `${help} (required)`);
  }
  for (const [flags, help] of Object.entries(spec.options ?? {})) command.option(flags, help);
  if (spec.destroys) command.option('--dry-run', 'only show what would be removed');
  if (spec.makes) command.option('--if-absent', 'show an existing one instead; exit 0');
  if (spec.rehearsable || spec.makes) command.option('--dry-run', 'only show what would happen');
  command.action(async () => {
    const [{ beginCall }, { openDoor }, { fillOrganization }] = await Promise.all([
      import('./run.ts'),
      import('./door.ts'),
      import('./organization.ts'),
    ]);
    const flags = flagsOf(command);
    const typed = (field: string) => typedName(field, command);
    const line = { flags, input: inputOf(command), typed };
    const call = beginCall(line, await openDoor(flags, command));
    try {
      const tell = spec.destroys ?? spec.rehearsable ?? spec.makes ?? false;
      if (spec.required?.[orgOption] !== undefined) await fillOrganization(call, tell);
      if (spec.required?.[userOption] && call.server === null && call.input['user'] === undefined)
        throw refuseField('--user', 'is required');
      await spec.run(call);
    } finally {
      await call.end();
    }
  });
}

/** Gives a command the shared behaviour: help that ends with an example, and usage refusals. */
export function dressed(command: Command, example: string): Command {
  return command
    .configureHelp({
      showGlobalOptions: true,
      helpWidth: 80,
      minWidthToWrap: 24,
      subcommandTerm: termOf,
      formatHelp(this: Help, described, helper) {
        const parts = Help.prototype.formatHelp
          .call(this, described, helper)
          .trimEnd()
          .split('\n\n');
        return `${parts.toSorted((one, other) => rankOf(one) - rankOf(other)).join('\n\n')}\n`;
      },
      visibleGlobalOptions(this: Help, described) {
        const options = Help.prototype.visibleGlobalOptions.call(this, described);
        return options.filter(({ long }) => long !== '--server' || reachOf(described) !== 'host');
      },
      // Commander's own usage names an alias too.
      commandUsage: (described) => `${spelling(described)} ${described.usage()}`,
    })
    .configureOutput({
      outputError: () => {},
      // Commander writes the help here if the command line does not name a command.
      writeErr: (text) => void (asksJson(command) || process.stderr.write(text)),
    })
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .exitOverride((error) => {
      throw usageRefusal(error, command);
    });
}

/** Commands stand before the options, and the options of all commands last. */
function rankOf(part: string): number {
  return ['Commands:', 'Options:', 'Global Options:'].indexOf(part.split('\n')[0] ?? '');
}

/** The entry of a command in its parent's list. */
function termOf(command: Command): string {
  const given = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...given].join(' ');
}

/** Options whose names differ from the field names of the API. */
const typedAs: Record<string, string> = {
  emailDomain: '--domain',
  clientSecret: '--secret-file or --secret-stdin',
  bindPassword: '--password-file or --password-stdin',
  caCertificate: '--ca-file',
  organization: '--org',
};

/** The option or argument that sets a field: `--redirect-uri` for an entry of `redirectUris`. */
export function typedName(path: string, command: Command | undefined): string {
  const field = path.replace(/\.\d+$/, '');
  const options = command?.options.filter(({ negate }) => !negate) ?? [];
  const named = (name: string) => options.find((known) => known.attributeName() === name)?.long;
  return named(field) ?? named(field.replace(/s$/, '')) ?? typedAs[path] ?? path;
}

/** The hint that names the help of a command. */
export function seeHelp(command: Command): { technical: string } {
  return { technical: `See ${spelling(command)} --help` };
}

/** The full name of a command, starting with `idctl`, without aliases. */
function spelling(command: Command): string {
  return command.parent === null ? command.name() : `${spelling(command.parent)} ${command.name()}`;
}

function usageRefusal(error: CommanderError, command: Command): Error {
  if (error.exitCode === 0) return error;
  if (error.code === 'commander.help') return asksJson(command) ? commandMissing(command) : error;
  const [message = '', suggestion] = withoutValues(error).split('\n');
  const [, typed] = /^unknown command '(.+)'$/.exec(message) ?? [];
  const known = meant[`${command.name()} ${typed}`];
  const did =
    aboutMissing(message, command) ??
    aboutArgument(message, command) ??
    (known === undefined ? trulyNamed(suggestion, command) : `Did you mean ${known}?`);
  return new Refusal('invalid_input', message, {
    hint: did === undefined ? seeHelp(command) : [did, seeHelp(command)],
  });
}

/** What a missing option takes, such as: --role <role>: member, admin or owner. */
function aboutMissing(message: string, command: Command): { technical: string } | undefined {
  const [, flags] = /^required option '(.+)' not specified$/.exec(message) ?? [];
  const option = command.options.find((known) => known.flags === flags);
  if (option === undefined) return undefined;
  const about = option.description.replace(/ \(required\)$/, '');
  return { technical: `${flags}: ${about}.` };
}

/** How to give an argument that was typed as an option, such as --name of client create. */
function aboutArgument(message: string, command: Command): { technical: string } | undefined {
  const [, typed] = /^unknown option '--(.+)'$/.exec(message) ?? [];
  const isArgument = command.registeredArguments.some((known) => known.name() === typed);
  if (!isArgument) return undefined;
  return { technical: `Type the ${typed} without an option: ${spelling(command)} <${typed}>.` };
}

/** Commander's message without the typed values: one may be a secret (security X4). */
function withoutValues({ message }: CommanderError): string {
  return message
    .replace(/^error: /, '')
    .replace(/^(unknown option '(?:--[^=]*|-.)).*'/s, "$1'")
    .replace(/^(too many arguments.* but got \d+): .*$/s, '$1.');
}

/** Commander's suggestion, with each alias replaced by the command's own name. */
function trulyNamed(suggestion: string | undefined, command: Command): string | undefined {
  const [, some] = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(suggestion ?? '') ?? [];
  if (some === undefined) return undefined;
  const names = some.split(', ').map((word) => findCommand(command, word)?.name() ?? word);
  const [name, ...more] = new Set(names);
  return `Did you mean ${more.length === 0 ? name : `one of ${[name, ...more].join(', ')}`}?`;
}

/** Mistyped commands that Commander cannot match, with the command that was meant. */
const meant: Record<string, string> = {
  'idctl token': 'idctl pat',
  'token create': 'rotate',
  'user set-password': 'password',
  'member set-role': 'role',
  'domain assert': 'idctl domain verify DOMAIN --assert',
};

function commandMissing(command: Command): Refusal {
  return new Refusal('invalid_input', 'a command is missing', {
    hint: seeHelp(command),
  });
}

function asksJson(command: Command): boolean {
  return command.optsWithGlobals()['json'] === true;
}

function flagsOf(command: Command): Flags {
  const { json, quiet, yes, config, server, dryRun, ifAbsent } = command.optsWithGlobals();
  return {
    json: json === true,
    quiet: quiet === true,
    yes: yes === true,
    dryRun: dryRun === true,
    ifAbsent: ifAbsent === true,
    config: typeof config === 'string' ? config : undefined,
    server: typeof server === 'string' ? server : undefined,
  };
}

function inputOf(command: Command): Record<string, unknown> {
  const named = command.registeredArguments.map((argument, at) => [
    argument.name(),
    command.processedArgs[at],
  ]);
  const given = named.filter(([, value]) => value !== undefined);
  const { dryRun: _, ifAbsent: __, ...options } = command.opts();
  return { ...options, ...Object.fromEntries(given) };
}
