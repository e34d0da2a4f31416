import { describe, expect, test } from 'vitest';
import { names, pageOf, quoted, undefinedRules } from './pages.ts';

// Checks docs/evidence/asvs.md against the requirements of OWASP ASVS 5.0 and against the tests it cites.

const page = pageOf('asvs.md');
const rows = [
  ...page.matchAll(/^\| (\d+\.\d+\.\d+) \| ([12]) \| (.+?) \| (.+?) \| (.+) \|$/gm),
].map(([, id = '', level = '', asks = '', verdict = '', shown = '']) => ({
  id,
  level,
  asks,
  verdict,
  shown,
}));

/** The requirement numbers of each section: those of level 1, then those of level 2. */
const requirements: Record<string, [number[], number[]]> = {
  '6.1': [[1], [2, 3]],
  '6.2': [
    [1, 2, 3, 4, 5, 6, 7, 8],
    [9, 10, 11, 12],
  ],
  '6.3': [
    [1, 2],
    [3, 4],
  ],
  '6.4': [
    [1, 2],
    [3, 4],
  ],
  '6.5': [[], [1, 2, 3, 4, 5]],
  '6.6': [[], [1, 2, 3]],
  '6.8': [[], [1, 2, 3, 4]],
  '7.1': [[], [1, 2, 3]],
  '7.2': [[1, 2, 3, 4], []],
  '7.3': [[], [1, 2]],
  '7.4': [
    [1, 2],
    [3, 4, 5],
  ],
  '7.5': [[], [1, 2]],
  '7.6': [[], [1, 2]],
  '9.1': [[1, 2, 3], []],
  '9.2': [[1], [2, 3, 4]],
  '10.1': [[], [1, 2]],
  '10.2': [[], [1, 2]],
  '10.3': [[], [1, 2, 3, 4]],
  '10.4': [
    [1, 2, 3, 4, 5],
    [6, 7, 8, 9, 10, 11],
  ],
  '10.5': [[], [1, 2, 3, 4, 5]],
  '10.6': [[], [1, 2]],
  '10.7': [[], [1, 2, 3]],
};

describe('docs/evidence/asvs.md', () => {
  test('lists every requirement of levels 1 and 2 of V6, V7, V9 and V10 once, in order, with its level', () => {
    const expected = Object.entries(requirements).flatMap(([section, levels]) =>
      levels
        .flatMap((numbers, at) => numbers.map((number) => ({ number, level: at + 1 })))
        .map(({ number, level }) => `${section}.${number} ${level}`),
    );
    expect(rows.map(({ id, level }) => `${id} ${level}`)).toEqual(expected);
    expect(page.match(/^\| \d/gm)).toHaveLength(rows.length);
  });

  test('names tests or a page for every met requirement, and every named test exists', () => {
    for (const { id, verdict, shown } of rows) {
      expect([id, verdict]).toEqual([id, expect.stringMatching(/^(met|deviates|does not apply)$/)]);
      if (verdict === 'met')
        expect([id, quoted(shown).length > 0 || /\]\(/.test(shown)]).toEqual([id, true]);
    }
    const missing = rows
      .flatMap(({ shown }) => quoted(shown))
      .filter((words) => !names.some((name) => name.includes(words)));
    expect(missing).toEqual([]);
  });

  test('has the counts that docs/evidence/security.md states, and links only to defined rules', () => {
    const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
    const [met, deviates, not] = [count('met'), count('deviates'), count('does not apply')];
    const claim = `${met} are met, ${deviates} deviate and ${not} do not apply`;
    expect(pageOf('security.md').replace(/\s+/g, ' ')).toContain(claim);
    expect(undefinedRules('asvs.md')).toEqual([]);
  });
});
