import measure from 'fast-string-truncated-width';
import { describe, expect, it } from 'vitest';
import { type Fields, printBlock, printJson, printTable } from '../../src/cli/output.ts';

interface Row {
  id: string;
  name: string | null;
  tags?: string[];
}

const fields: Fields<Row> = [
  ['Name', (row) => row.name],
  ['Tags', (row) => row.tags],
  ['ID', (row) => row.id, 'whole'],
];

function shown(
  print: (screen: Parameters<typeof printJson>[1]) => void,
  columns = Number.POSITIVE_INFINITY,
  colour = false,
) {
  let text = '';
  print({
    write: (part) => {
      text += part;
    },
    columns,
    colour,
  });
  return text;
}

describe('a table', () => {
  it('aligns its columns, also with double-width characters', () => {
    const rows = [
      { id: '1', name: '東京', tags: ['a', 'b'] },
      { id: '22', name: 'Ada' },
    ];
    expect(shown((screen) => printTable(rows, fields, screen))).toBe(
      'NAME  TAGS  ID\n東京  a, b  1\nAda   -     22\n',
    );
  });

  it.each([59, 60, 80])('fits a terminal of %i columns and keeps identifiers whole', (columns) => {
    const id = '01a1f85a-5b56-7b47-9e50-754bcc9a517d';
    const rows = [{ id, name: `${'東京都'.repeat(30)}`, tags: ['x'.repeat(90)] }];
    const lines = shown((screen) => printTable(rows, fields, screen), columns)
      .trimEnd()
      .split('\n');
    for (const line of lines) expect(measure(line).width).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain(id);
    expect(lines[1]).toContain('…');
  });

  it('keeps times and short names whole, and shortens names', () => {
    const rows = [
      { slug: 'muller-sohne-holding', name: 'Müller '.repeat(9), at: '2026-11-20T16:42:17.123Z' },
    ];
    const narrow: Fields<(typeof rows)[number]> = [
      ['Slug', (row) => row.slug, 'whole'],
      ['Name', (row) => row.name],
      ['At', (row) => row.at],
    ];
    const [, line] = shown((screen) => printTable(rows, narrow, screen), 56).split('\n');
    expect(line).toBe('muller-sohne-holding  Müller Müll…  2026-11-20T16:42:17Z');
  });

  it('breaks long text in the last column between words', () => {
    const rows = [{ id: '1', name: 'because the provider has not said who it is' }];
    const broken: Fields<Row> = [
      ['ID', (row) => row.id],
      ['Why', (row) => row.name, 'broken'],
    ];
    expect(shown((screen) => printTable(rows, broken, screen), 30)).toBe(
      'ID  WHY\n1   because the provider has\n    not said who it is\n',
    );
    const path = [{ id: '1', name: `/${'x'.repeat(40)}` }];
    expect(shown((screen) => printTable(path, broken, screen), 30)).toContain(
      `\n1   /${'x'.repeat(40)}\n`,
    );
  });

  it('becomes blocks if whole values do not fit', () => {
    const rows = [
      { id: '0123456789', name: 'Ada', tags: ['x'] },
      { id: 'abcdefghij', name: null },
    ];
    expect(shown((screen) => printTable(rows, fields, screen), 20)).toBe(
      'Name:  Ada\nTags:  x\nID:    0123456789\n\nName:  -\nTags:  -\nID:    abcdefghij\n',
    );
  });

  it('shows columns that do not fit below their row, unless they are empty', () => {
    const rows = [
      { id: '1', name: 'member.removed', tags: ['the account was deleted'] },
      { id: 'a', name: 'member.added', tags: [] },
    ];
    const below: Fields<Row> = [
      ['Kind', (row) => row.name, 'whole'],
      ['Reason', (row) => row.tags, 'below'],
      ['ID', (row) => row.id, 'below'],
    ];
    const print = (columns: number) => shown((screen) => printTable(rows, below, screen), columns);
    expect(print(43).split('\n')[1]).toBe('member.removed  the account was deleted  1');
    expect(print(40)).toBe(
      [
        'KIND            REASON',
        'member.removed  the account was deleted',
        '  ID: 1',
        'member.added    -',
        '  ID: a',
        '',
      ].join('\n'),
    );
    expect(print(32)).toBe(
      [
        'KIND',
        'member.removed',
        '  Reason: the account was',
        '  deleted  ID: 1',
        'member.added',
        '  ID: a',
        '',
      ].join('\n'),
    );
  });

  it('is not shortened in a pipe, and does not contain a tab', () => {
    const text = shown((screen) =>
      printTable([{ id: '1', name: `a\tb${'x'.repeat(300)}` }], fields, screen),
    );
    expect(text).toContain('x'.repeat(300));
    expect(text).not.toContain('\t');
  });

  it('has colour only if colour is on', () => {
    const print = (screen: Parameters<typeof printJson>[1]) =>
      printTable([{ id: '1', name: 'a' }], fields, screen);
    expect(shown(print, 80, true)).toContain('\u001b[1m');
    expect(shown(print, 80, false)).not.toContain('\u001b');
  });
});

describe('X9: deceptive characters', () => {
  const hostile = 'a\u001b[2Jb\u202ec\u0007d\ne\u009bf\u2066g\u061ch';

  it('are spelled out in tables and blocks', () => {
    for (const print of [printTable, printBlock] as const) {
      const text = shown((screen) => {
        const row = { id: '1', name: hostile };
        if (print === printTable) printTable([row], fields, screen);
        else printBlock(row, fields, screen);
      });
      expect(text).toContain('a\\u001b[2Jb\\u202ec\\u0007d\\u000ae\\u009bf\\u2066g\\u061ch');
    }
  });

  it('are escaped in JSON, which still reads as the same value', () => {
    for (const columns of [80, Number.POSITIVE_INFINITY]) {
      const text = shown((screen) => printJson({ name: hostile }, screen), columns);
      expect(JSON.parse(text)).toEqual({ name: hostile });
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });
});

describe('JSON', () => {
  it('is one line in a pipe and indented on a terminal', () => {
    expect(shown((screen) => printJson([{ a: 1 }], screen))).toBe('[{"a":1}]\n');
    expect(shown((screen) => printJson([{ a: 1 }], screen), 80)).toBe(
      '[\n  {\n    "a": 1\n  }\n]\n',
    );
  });
});
