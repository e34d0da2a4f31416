import { describe, expect, it } from 'vitest';
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

  it.each(pages)('fits a screen: $name', ({ text }) => {
    expect(text.split('\n').length).toBeLessThan(50);
  });

  it.each(pages)('ends with an example: $name', ({ text, name }) => {
    expect(text).toMatch(new RegExp(`\nExample:\n  \\$ ${name}.*(\n {6}.*)*\n$`));
  });

  it.each(pages)('names the options that all commands take: $name', ({ text }) => {
    for (const flag of ['--json', '--config', '--quiet', '--yes', '--help'])
      expect(text).toContain(flag);
  });
});
