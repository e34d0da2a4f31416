import type { Command, Option } from 'commander';
import {
  bold,
  entry,
  example,
  heading,
  page,
  paragraph,
  prose,
  type Roff,
  sentence,
  subheading,
  syntax,
  text,
  title,
} from './roff.ts';

/** The page of one command group: every verb with its options and an example. */
export function groupPage(group: Command, version: string): Roff {
  const name = `idctl-${group.name()}`;
  const verbs = leavesOf(group);
  return [
    title(name, 1, version),
    heading('NAME'),
    `${text(name)} \\- ${text(group.description().split(/\. |\n/)[0] ?? '')}\n`,
    heading('SYNOPSIS'),
    ...verbs.map((verb) => `${synopsis(verb)}\n.br\n`),
    heading('DESCRIPTION'),
    prose(group.description()),
    paragraph(
      `The options that every command takes, the exit codes and the files are in ${page('idctl', 1)}.`,
    ),
    heading('COMMANDS'),
    ...verbs.map(verbSection),
    heading('SEE ALSO'),
    paragraph(`${page('idctl', 1)}, ${page('idctl.yaml', 5)}`),
  ].join('');
}

/** The section about one verb, in `idctl(1)` or on the page of its group. */
export function verbSection(verb: Command): Roff {
  const options = verb.options.filter(({ hidden }) => !hidden);
  return [
    subheading(bold(spelled(verb)) + argumentsOf(verb)),
    prose(verb.description()),
    ...options.map(optionEntry),
    example(exampleOf(verb)),
  ].join('');
}

/** An option and its line of help. */
export function optionEntry(option: Option): Roff {
  return entry(syntax(option.flags), sentence(option.description));
}

/** The command itself if it has no subcommands; otherwise all commands below it that have none. */
export function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** The full name of the command, such as `idctl org list`. */
export function spelled(command: Command): string {
  return command.parent === null ? command.name() : `${spelled(command.parent)} ${command.name()}`;
}

function synopsis(verb: Command): Roff {
  const required = verb.options.filter(({ mandatory }) => mandatory);
  const flags = required.map(({ flags }) => ` ${syntax(flags)}`).join('');
  const more = verb.options.length > required.length ? ' [\\fIoptions\\fR]' : '';
  return `${bold(spelled(verb))}${argumentsOf(verb)}${flags}${more}`;
}

function argumentsOf(verb: Command): Roff {
  return verb.registeredArguments
    .map(
      (argument) =>
        ` ${syntax(argument.required ? `<${argument.name()}>` : `[<${argument.name()}>]`)}`,
    )
    .join('');
}

/** The example at the end of the command's help. */
export function exampleOf(verb: Command): string {
  let help = '';
  verb.configureOutput({
    writeOut: (part) => {
      help += part;
    },
  });
  verb.outputHelp();
  return help
    .slice(help.indexOf('Example:\n') + 'Example:\n'.length)
    .replace(/^ {2}/gm, '')
    .trimEnd();
}
