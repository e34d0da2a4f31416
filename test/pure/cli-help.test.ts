import { describe, expect, it } from 'vitest';
import { hostOnly } from '../../src/cli/reach.ts';
import { helpPages } from '../support/help.ts';

const pages = await helpPages();

describe('the help page of each command', () => {
  it('equals the golden file', async () => {
    const book = pages.map(({ name, text }) => `=== ${name}\n${text}`).join('\n');
    await expect(book).toMatchFileSnapshot('../golden/help.txt');
  });

  it.each(pages)('fits 80 columns: $name', ({ text }) => {
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(pages)('fits a screen: $name', ({ text, name }) => {
    // The first page has a line for each command.
    expect(text.split('\n').length).toBeLessThan(name === 'idctl' ? 90 : 50);
  });

  it.each(pages)('ends with an example: $name', ({ text, name }) => {
    expect(text).toMatch(new RegExp(`\nExample:\n  \\$ ${name}.*(\n {6}.*)*\n$`));
  });

  it.each(pages)('names the options that all commands take: $name', ({ text }) => {
    for (const flag of ['--json', '--config', '--quiet', '--yes', '--help'])
      expect(text).toContain(flag);
  });

  it('lists every command with its summary before the options', async () => {
    const [first = ''] = pages.map(({ text }) => text);
    const [commands = '', options = ''] = first.split('Options:');
    for (const { name } of pages.filter((page) => page.name.split(' ').length === 2))
      expect(commands).toMatch(new RegExp(`^  ${name.slice('idctl '.length)} +[A-Z]`, 'm'));
    expect(options).toContain('--json');
  });

  it.each(pages.slice(1))('names --server only if the command takes it: $name', ({ text }) => {
    expect(text.includes('--server <name>')).toBe(!text.includes(hostOnly));
  });

  it.each(pages.slice(1))('shows the options of all commands last: $name', ({ text }) => {
    expect(text.indexOf('Global Options:')).toBeGreaterThan(text.indexOf('\nOptions:'));
    expect(text.indexOf('Global Options:')).toBeGreaterThan(text.indexOf('\nCommands:'));
  });
});
