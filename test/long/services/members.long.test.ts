import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialectOfDatabase, execute } from '../../../src/database/select.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { open } from '../../support/pages.ts';
import { peopled } from '../../support/peopled.ts';

// A search among many members stays quick, and stops after 10,000.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const people = (count: number) =>
  peopled(
    idctl,
    Array.from({ length: count }, (_, at) => `Person ${at}`),
  );

test('the people page takes at most three times as long with 10,000 members as with 100, except for a search without a hit', async () => {
  const few = await people(100);
  const many = await people(9999);
  if (dialectOfDatabase() === 'postgres') await transaction(() => execute('ANALYZE', []));
  const timeOf = async ({ client, org }: typeof few, query: string) => {
    let best = Number.POSITIVE_INFINITY;
    for (let at = 0; at < 20; at += 1) {
      const begun = performance.now();
      expect((await open(client, `/orgs/${org.slug}/people${query}`)).status).toBe(200);
      best = Math.min(best, performance.now() - begun);
    }
    return best;
  };
  // A search without a hit reads every name, in slices. It misses the factor 3 (security O15).
  const most = {
    '': 3,
    '?q=person+9': 3,
    '?role=owner': 3,
    '?role=owner&q=nobody': 6,
    '?q=nobody': 25,
  };
  for (const [query, factor] of Object.entries(most)) {
    const [small, large] = [await timeOf(few, query), await timeOf(many, query)];
    expect([query, small, large, large < factor * small]).toEqual([query, small, large, true]);
  }
});

test('a search looks at 10,000 members for one page, and goes on after them', async () => {
  const { list } = await people(10_020);
  const first = await list({ q: 'person 10019' });
  expect([first.items, first.nextCursor]).toEqual([[], expect.any(String)]);
  const second = await list({ q: 'person 10019', cursor: first.nextCursor });
  expect([second.items, second.nextCursor]).toMatchObject([[{ name: 'Person 10019' }], null]);
});
