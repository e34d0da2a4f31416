import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, checkout, pages, textOf, userPages, withoutCode } from '../support/docs.ts';
import { faultOf, spokenLines, typedLines } from '../support/typed-lines.ts';

// Checks the pages of the documentation.

test.each(pages)('every link of %s leads to a file and a heading', (page) => {
  const text = withoutCode(textOf(page));
  const targets = [
    ...[...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to),
    ...[...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)].map(([, to = '']) => to),
  ].filter((to) => !/^(https?|mailto):/.test(to));
  const broken = targets.filter((to) => {
    const [file = '', anchor] = to.split('#');
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(checkout, target))) return true;
    return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

const sourceFile = /[\w{},*/-]+\.ts\b|\b(?:src|test|scripts)\/\w+/g;

test.each(userPages)('%s does not name a source file', (page) => {
  expect(textOf(page).match(sourceFile)).toBeNull();
});

// The page of all commands says how to type each, and has the examples of the help.
const withCommands = userPages.filter((page) => !page.startsWith('docs/reference/'));

test.each(withCommands)('every command of %s can be typed', (page) => {
  const text = textOf(page);
  const faults = [
    ...typedLines(text).map((line) => [line, faultOf(line, true)]),
    ...spokenLines(text).map((line) => [line, faultOf(line, false)]),
  ];
  expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
});

test('docs/README.md leads to every page for users in at most two clicks, and README.md to it', () => {
  const linked = (page: string) =>
    [...textOf(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)].map(([, to = '']) =>
      join(dirname(page), to),
    );
  const first = linked('docs/README.md');
  const reached = new Set([...first, ...first.filter((page) => existsSync(page)).flatMap(linked)]);
  expect(userPages.filter((page) => page !== 'docs/README.md' && !reached.has(page))).toEqual([]);
  expect(linked('README.md')).toContain('docs/README.md');
});

test.each(userPages.filter((page) => page !== 'README.md'))(
  '%s begins with what it is for',
  (page) => {
    expect(textOf(page)).toMatch(/^# .+\n\nUse .+ (to|if) /);
  },
);
