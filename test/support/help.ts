import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

/** A command as a user types it, and its help. */
interface HelpPage {
  name: string;
  text: string;
}

/** The help of every command, that of `idctl` first. */
export async function helpPages(): Promise<HelpPage[]> {
  return commandsOf(await createProgram()).map((command) => ({
    name: spelled(command),
    text: helpOf(command),
  }));
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

function spelled(command: Command): string {
  return command.parent === null ? command.name() : `${spelled(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
