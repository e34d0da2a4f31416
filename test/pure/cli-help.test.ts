import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

const pages = commandsOf(await createProgram()).map((command) => ({
  name: spelled(command),
  text: helpOf(command),
}));

describe('the help of every command', () => {
  it('is what stands in the golden file', async () => {
    const book = pages.map(({ name, text }) => `=== ${name}\n${text}`).join('\n');
    await expect(book).toMatchFileSnapshot('../golden/help.txt');
  });

  it.each(pages)('fits 80 columns: $name', ({ text }) => {
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(pages)('fits a screen: $name', ({ text }) => {
    expect(text.split('\n').length).toBeLessThan(50);
  });

  it.each(pages)('ends with an example: $name', ({ text, name }) => {
    expect(text).toMatch(new RegExp(`\nExample:\n  \\$ ${name}.*(\n {6}.*)*\n$`));
  });

  it.each(pages)('has an example that the program understands: $name', async ({ text }) => {
    const program = await createProgram();
    for (const command of commandsOf(program)) if (command.commands.length === 0) command.action(() => {});
    const example = text.slice(text.indexOf('  $ ') + 4).replaceAll(/\\\n */g, '');
    await program.parseAsync(wordsOf(example), { from: 'user' });
  });

  it.each(pages)('names the options that all commands take: $name', ({ text }) => {
    for (const flag of ['--json', '--config', '--quiet', '--yes', '--help']) expect(text).toContain(flag);
  });
});

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

/** The words after `idctl`, up to where the shell goes on by itself. */
function wordsOf(line: string): string[] {
  const [, typed = ''] = /idctl ((?:[^'<>|&]|'[^']*')*)/.exec(line.split('\n')[0] ?? '') ?? [];
  return [...typed.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
