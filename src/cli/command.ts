import type { Command, CommanderError } from 'commander';
import { Refusal } from '../errors.ts';
import type { Flags } from './operator.ts';
import { hostOnly, reachOf } from './reach.ts';
import type { Call } from './run.ts';

/** The description of a verb, and its action. */
interface Verb {
  summary: string;
  /** Further paragraphs of the help; indented paragraphs keep their form. */
  detail?: string;
  /** Flags with their placeholder, each with a line of help. */
  options?: Record<string, string>;
  /** Options that the command requires. */
  required?: Record<string, string>;
  /** The command cannot be undone: it asks first and has `--dry-run`. */
  destroys?: true;
  /** The command can be undone, and still has `--dry-run` to show its effect first. */
  rehearsable?: true;
  /** A command line that works as typed. */
  example: string;
  run: (call: Call) => Promise<unknown>;
}

// The only required option that may be left out: `IDCTL_ORG` or a single organization replaces it.
const orgOption = '--org <org>';

/** The option of commands about an organization. */
export const org = { [orgOption]: 'the organization, by id or slug' };

/** Declares `idctl <name>`, which holds verbs and does nothing itself. */
export function noun(program: Command, name: string, summary: string, example: string): Command {
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
    else command.requiredOption(flags, `${help} (required)`);
  }
  for (const [flags, help] of Object.entries(spec.options ?? {})) command.option(flags, help);
  if (spec.destroys) command.option('--dry-run', 'only show what would be removed');
  if (spec.rehearsable) command.option('--dry-run', 'only show what would happen');
  command.action(async () => {
    const [{ beginCall }, { openDoor }, { fillOrganization }] = await Promise.all([
      import('./run.ts'),
      import('./door.ts'),
      import('./organization.ts'),
    ]);
    const flags = flagsOf(command);
    const call = beginCall(flags, inputOf(command), await openDoor(flags, command));
    try {
      if (spec.required?.[orgOption] !== undefined) await fillOrganization(call);
      await spec.run(call);
    } finally {
      await call.end();
    }
  });
}

/**
 * Gives a command the shared behaviour: 80-column help that ends with an example, and refusals for
 * bad usage.
 */
export function dressed(command: Command, example: string): Command {
  return command
    .configureHelp({ showGlobalOptions: true, helpWidth: 80, subcommandTerm: termOf })
    .configureOutput({
      outputError: () => {},
      // Commander writes the help here if the command line names no command.
      writeErr: (text) => void (asksJson(command) || process.stderr.write(text)),
    })
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .exitOverride((error) => {
      throw usageRefusal(error, command);
    });
}

/** The entry of a command in its parent's list. The first page is long, so it shows names only. */
function termOf(command: Command): string {
  if (command.parent?.parent === null) return command.name();
  const given = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...given].join(' ');
}

/** The full command as typed, starting with `idctl`. */
export function spelling(command: Command): string {
  return command.parent === null ? command.name() : `${spelling(command.parent)} ${command.name()}`;
}

function usageRefusal(error: CommanderError, command: Command): Error {
  if (error.exitCode === 0) return error;
  if (error.code === 'commander.help') return asksJson(command) ? commandMissing(command) : error;
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const help = `See ${spelling(command)} --help`;
  const [, typed] = /^unknown command '(.+)'$/.exec(message) ?? [];
  const known = meant[`${command.name()} ${typed}`];
  const did = known === undefined ? suggestion?.replace(/^\(|\)$/g, '') : `Did you mean ${known}?`;
  return new Refusal('invalid_input', message, {
    hint: did === undefined ? help : `${did} ${help}`,
  });
}

/** Typed names that mean a command with a different name and spelling. */
const meant: Record<string, string> = {
  'member set-role': 'role',
  'domain assert': 'idctl domain verify DOMAIN --assert',
};

function commandMissing(command: Command): Refusal {
  return new Refusal('invalid_input', 'a command is missing', {
    hint: `See ${spelling(command)} --help`,
  });
}

function asksJson(command: Command): boolean {
  return command.optsWithGlobals()['json'] === true;
}

function flagsOf(command: Command): Flags {
  const { json, quiet, yes, config, server, dryRun } = command.optsWithGlobals();
  return {
    json: json === true,
    quiet: quiet === true,
    yes: yes === true,
    dryRun: dryRun === true,
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
  const { dryRun: _, ...options } = command.opts();
  return { ...options, ...Object.fromEntries(given) };
}
