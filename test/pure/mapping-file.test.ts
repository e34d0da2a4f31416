import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMappingFile, writeMappingFile } from '../../src/cli/mapping-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-mappings-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const row = (group: string) => ({ group, project: 'website', role: 'viewer' });

async function readBack(text: string) {
  const file = join(folder, 'mappings.csv');
  await writeFile(file, text);
  return (await readMappingFile(file)).mappings;
}

/** The cells of the file, as a spreadsheet reads them. */
async function cellsOf(text: string): Promise<string[][]> {
  const { parse } = await import('csv-parse/sync');
  return parse(text);
}

// Text that a spreadsheet may take for a formula (OWASP, CSV injection).
const formulas = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  ' =1',
  '\n=1',
  '＝1',
  '＋1',
  '－1',
  '＠x',
];
const quoted = ["'=1", "''=1", "'", "'plain", "' =1", "O'Brien", "'''"];

describe('X9 CSV export', () => {
  test.each(formulas)('X9 no cell begins with a formula: %j', async (group) => {
    const text = await writeMappingFile([row(group)]);
    const [, [cell = ''] = []] = await cellsOf(text);
    expect(cell).toBe(`'${group}`);
    expect(await readBack(text)).toEqual([row(group)]);
  });

  test.each(['x;=1+1;y', 'x\t=1'])(
    'X9 no cell begins with a formula if a spreadsheet splits at another character: %j',
    async (group) => {
      const text = await writeMappingFile([row(group)]);
      expect(text.split('\n')[1]).toBe(`"${group}",website,viewer`);
      expect(await readBack(text)).toEqual([row(group)]);
    },
  );

  test('X9 an import reads exactly the groups that were exported', async () => {
    const part = fc.constantFrom(
      ...formulas,
      ...quoted,
      '"',
      ',',
      ';',
      '\n',
      '\r\n',
      ' ',
      'ä',
      'Developers',
    );
    const group = fc.oneof(
      fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 40 })
        .filter((text) => text.isWellFormed()),
    );
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(group, { minLength: 1, maxLength: 8 }), async (groups) => {
        const text = await writeMappingFile(groups.map(row));
        expect(await readBack(text)).toEqual(groups.map(row));
        for (const [cell = ''] of await cellsOf(text))
          expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/);
      }),
      { numRuns: 300 },
    );
  });

  test('X9 in a file written by hand, only a quote before a formula is removed', async () => {
    const text =
      "group,project,role\n'=1,website,viewer\n'plain,website,viewer\nO'Brien,website,viewer\n";
    expect(await readBack(text)).toEqual([row('=1'), row("'plain"), row("O'Brien")]);
  });
});
