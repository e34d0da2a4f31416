import { describe, expect, test } from 'vitest';
import { names, pageOf, quoted, undefinedRules } from './pages.ts';

// Compares docs/evidence/security.md with the tests: every clause of every rule has a test, and the page has
// every rule that a test cites.

interface Rule {
  id: string;
  /** Each clause, with the words that it quotes from test names: none if it is not built yet. */
  clauses: { clause: string; held: string[] }[];
}

const page = pageOf('security.md');
const sections = page.split(/^(?=## )/m);
const isOfAttackers = (section: string) => section.startsWith('## Attackers\n');
const attackers = sections
  .filter(isOfAttackers)
  .flatMap((section) => section.split(/^### /m).slice(1));
const later = /^Not built yet: (.*?)\.$/ms.exec(page)?.[1]?.split(/,\s+/) ?? [];
/** Every section of the third level is a rule, except those about attackers. */
const rules = sections
  .filter((section) => !isOfAttackers(section))
  .flatMap((section) => section.split(/^### /m).slice(1))
  .map(readRule);

function readRule(text: string): Rule {
  const [section = ''] = text.split(/^## /m);
  const clauses = section
    .split(/^- /m)
    .slice(1)
    .map((item) => item.replace(/\s+/g, ' ').trim());
  return {
    id: /^\w+/.exec(section)?.[0] ?? '',
    clauses: clauses.map((clause) => ({
      clause,
      held: quoted(clause),
    })),
  };
}

const cited = (name: string): string[] => name.match(/\b[IDSLPOX]\d{1,2}\b/g) ?? [];
const isHeld = (id: string, words: string) =>
  names.some((name) => cited(name).includes(id) && name.includes(words));

describe('docs/evidence/security.md', () => {
  test('the page has rules, and the parser finds the test titles in every kind of quote and after `each`', () => {
    expect(rules.length).toBeGreaterThan(40);
    expect(later).toContain('D6');
    for (const name of [
      'P3 a request with %s is refused, and no other credential is tried',
      "S5 an attacker cannot sign in with a code that a hostile provider got from the honest provider's user",
      'X8: run as root, the command line',
      'X4 no secret is in a command line that `ps` shows',
    ]) {
      expect(names).toContain(name);
    }
  });

  test.each(rules)('every clause of $id has a test', ({ id, clauses }) => {
    expect(clauses).not.toEqual([]);
    const silent = clauses.filter(
      ({ clause, held }) => held.length === 0 && !clause.endsWith(': not built yet'),
    );
    const missing = clauses.flatMap(({ held }) => held).filter((words) => !isHeld(id, words));
    expect([silent, missing]).toEqual([[], []]);
  });

  test('every section about an attacker cites existing rules and tests', () => {
    expect(attackers.length).toBeGreaterThan(10);
    for (const text of attackers) {
      expect(text).toMatch(/\[[IDSLPOX]\d{1,2}\]/);
      expect(quoted(text)).not.toEqual([]);
    }
    const missing = attackers
      .flatMap(quoted)
      .filter((words) => !names.some((name) => name.includes(words)));
    expect(missing).toEqual([]);
  });

  test('every rule that the page links to is on the page', () => {
    expect(undefinedRules('security.md')).toEqual([]);
  });

  test('rules that are not built yet have no test', () => {
    const tested = new Set(names.flatMap(cited));
    expect(later.filter((id) => tested.has(id))).toEqual([]);
  });

  test('the page has every rule that a test cites, and none twice', () => {
    const known = rules.map(({ id }) => id).concat(later);
    expect([...new Set(names.flatMap(cited))].filter((id) => !known.includes(id))).toEqual([]);
    expect(known.filter((id, at) => known.indexOf(id) !== at)).toEqual([]);
  });

  test('the page has every rule of each letter, up to the listed number', () => {
    const known = new Set(rules.map(({ id }) => id).concat(later));
    const counted = { I: 7, D: 7, S: 10, L: 9, P: 16, O: 12, X: 10 };
    const all = Object.entries(counted).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
    );
    expect(all.filter((id) => !known.has(id))).toEqual([]);
  });
});
