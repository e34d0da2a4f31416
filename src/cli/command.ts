import type { Command, CommanderError } from 'commander';
import { Refusal } from '../errors.ts';
import type { Flags } from './flags.ts';
import type { Call } from './run.ts';

/** What one verb says about itself, and what it does. */
interface Verb {
  summary: string;
  /** More to know: paragraphs, of which those that are indented keep their form. */
  detail?: string;
  /** Flags with their placeholder, each with a line of help. */
  options?: Record<string, string>;
  /** Options without which the command is not understood. */
  required?: Record<string, string>;
  /** What it does cannot be undone: it asks first and has `--dry-run`. */
  destroys?: true;
  /** It can be undone, and still says first what it would do: it has `--dry-run`. */
  rehearsable?: true;
  /** A line that works when typed. */
  example: string;
  run: (call: Call) => Promise<void>;
}

// The one required option that can be left out where it goes without saying.
const orgOption = '--org <org>';

/** Declares `idctl <name>`, which holds verbs and does nothing itself. */
export function noun(program: Command, name: string, summary: string, example: string): Command {
  return dressed(program.command(name).description(summary), example);
}

/** Declares a command; its arguments and options reach `run` in one object, by their names. */
export function verb(parent: Command, signature: string, spec: Verb): void {
  const described = spec.detail === undefined ? spec.summary : `${spec.summary}\n\n${spec.detail}`;
  const command = dressed(
    parent.command(signature).summary(spec.summary).description(described),
    spec.example,
  );
  for (const [flags, help] of Object.entries(spec.required ?? {})) {
    if (flags === orgOption) command.option(flags, `${help} (or IDCTL_ORG)`);
    else command.requiredOption(flags, `${help} (required)`);
  }
  for (const [flags, help] of Object.entries(spec.options ?? {})) command.option(flags, help);
  if (spec.destroys) command.option('--dry-run', 'only show what would be gone');
  if (spec.rehearsable) command.option('--dry-run', 'only show what would happen');
  command.action(async () => {
    const [{ beginCall }, { fillOrganization }] = await Promise.all([
      import('./run.ts'),
      import('./organization.ts'),
    ]);
    const call = beginCall(flagsOf(command), inputOf(command));
    try {
      if (spec.required?.[orgOption] !== undefined) await fillOrganization(call);
      await spec.run(call);
    } finally {
      await call.end();
    }
  });
}

/** Gives a command the manners that all share: help of 80 columns that ends with an example, refusals for bad usage. */
export function dressed(command: Command, example: string): Command {
  return command
    .configureHelp({ showGlobalOptions: true, helpWidth: 80, subcommandTerm: termOf })
    .configureOutput({
      outputError: () => {},
      // Here commander writes the help of a command line that names no command.
      writeErr: (text) => void (asksJson(command) || process.stderr.write(text)),
    })
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .exitOverride((error) => {
      throw usageRefusal(error, command);
    });
}

/** How a command stands in the list of the one above it; on the first page, which is long, by its name alone. */
function termOf(command: Command): string {
  if (command.parent?.parent === null) return command.name();
  const given = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...given].join(' ');
}

/** How the command is typed, from `idctl` on. */
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

/** What is typed for a command that has another name, and is not spelled like it. */
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
  const { json, quiet, yes, config, dryRun } = command.optsWithGlobals();
  return {
    json: json === true,
    quiet: quiet === true,
    yes: yes === true,
    dryRun: dryRun === true,
    config: typeof config === 'string' ? config : undefined,
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
