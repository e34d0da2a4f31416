import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accountCredentials,
  otherCredentials,
} from '../../src/services/people/credentials/credentials.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { events, restored, restores } from './kill-events.ts';
import { probes } from './kill-probes.ts';
import { prepare, type Scene, type World } from './kill-scene.ts';

// Tries every credential after every event, and compares the results with docs/evidence/kill-matrix.md.

type Column = Record<string, string>;

const page = readFileSync(
  resolve(import.meta.dirname, '../../docs/evidence/kill-matrix.md'),
  'utf8',
);
const matrix = readMatrix(page);

/** The cells of the page's tables, by event, then by credential. */
function readMatrix(text: string): Map<string, Column> {
  const columns = new Map<string, Column>();
  let heads: string[] = [];
  for (const line of text.split('\n')) {
    const [first = '', ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (first === 'Credential') heads = cells;
    else if (first === '' || /^-+$/.test(first)) continue;
    else {
      for (const [at, cell] of cells.entries()) {
        const column = columns.get(heads[at] ?? '') ?? {};
        columns.set(heads[at] ?? '', { ...column, [first]: cell.replaceAll('*', '') });
      }
    }
  }
  return columns;
}

test('I3 the kill matrix has a credential for every listed table, and a cell for each credential and event', () => {
  const tables = new Set(probes.map(({ table }) => table));
  expect(
    [...accountCredentials, ...otherCredentials].filter((table) => !tables.has(table)),
  ).toEqual([]);
  expect([...matrix.keys()].sort()).toEqual(
    [...Object.keys(events), ...Object.keys(restores)].sort(),
  );
  const credentials = probes.map(({ credential }) => credential).sort();
  for (const [event, column] of matrix) {
    expect([event, Object.keys(column).sort()]).toEqual([event, credentials]);
    expect([event, Object.values(column).filter((cell) => !/^(live|dead)$/.test(cell))]).toEqual([
      event,
      [],
    ]);
  }
});

const missing =
  counterpartMissing('slapd') ||
  (dialect === 'postgres' && counterpartMissing('postgresql-client'));

describe.skipIf(missing)('the kill matrix', () => {
  let world: World;
  let scene: Scene;
  beforeAll(async () => {
    ({ world, scene } = await prepare());
  }, 120_000);
  afterAll(() => world?.stop());

  /** Tries every credential after the act, on a copy of the scene or on the database at `url`. */
  async function after(act: (typeof events)[string], url?: string): Promise<Column> {
    const idctl = await world.reopen(url);
    try {
      const stage = { idctl, scene, world };
      await act(stage);
      const column: Column = {};
      for (const { credential, works } of probes)
        column[credential] = (await works(stage)) ? 'live' : 'dead';
      return column;
    } finally {
      await idctl.close();
    }
  }

  test('every credential of the scene works before any event', async () => {
    const dead = Object.entries(await after(async () => undefined)).filter(
      ([, cell]) => cell !== 'live',
    );
    expect(dead).toEqual([]);
  });

  test.each(Object.entries(events))(
    'I3 I5 P2 P5 P10 P13 P14 P18 every credential is live or dead as the matrix says after: %s',
    async (event, act) => {
      expect(await after(act)).toEqual(matrix.get(event));
    },
  );

  test.each(Object.entries(restores))(
    'P2 every credential is live or dead as the matrix says after: %s',
    { timeout: 120_000 },
    async (event, options) => {
      const url = await restored(world, options);
      expect(await after(async () => undefined, url)).toEqual(matrix.get(event));
    },
  );
});
