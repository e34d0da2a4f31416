import type { Command } from 'commander';
import { createProgram, groups } from '../../src/cli/program.ts';
import { exampleOf, leavesOf, spelled } from '../man/commands.ts';
import { code, sentence } from './markdown.ts';

/** The page of all commands, with their options and an example each. */
export async function commandsPage(): Promise<string> {
  const program = await createProgram();
  const named = (name: string) => program.commands.filter((one) => one.name() === name);
  const purposes = Object.entries(groups).map(([purpose, nouns]) => {
    const commands = Object.keys(nouns).flatMap(named).flatMap(leavesOf);
    return `## ${purpose}\n\n${commands.map(section).join('\n')}`;
  });
  return [introduction(program), ...purposes].join('\n');
}

function introduction(program: Command): string {
  return `# Commands

Use this page to find a command. \`idctl COMMAND --help\` shows the same in the terminal, and so does \`man idctl-GROUP\`.

You can type \`create\`, \`add\`, \`new\` or \`register\` for each other, and \`delete\`, \`remove\` or \`rm\`. [Write
scripts](../operations/scripts.md) says what commands have in common. These options work with every command:

${options(program)}`;
}

function section(command: Command): string {
  const given = command.registeredArguments
    .map((one) => (one.required ? ` <${one.name()}>` : ` [${one.name()}]`))
    .join('');
  return [
    `### ${spelled(command)}\n`,
    `${command.description().split('\n\n').map(sentence).join('\n\n')}\n`,
    `${code(`${spelled(command)}${given}${command.options.length > 0 ? ' [options]' : ''}`)}\n`,
    options(command),
    `\`\`\`\n${exampleOf(command)}\n\`\`\`\n`,
  ].join('\n');
}

function options(command: Command): string {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, mandatory }) => {
      const required = mandatory ? ' (required)' : '';
      return `- ${code(flags)}${required}: ${sentence(description)}\n`;
    })
    .join('');
}
