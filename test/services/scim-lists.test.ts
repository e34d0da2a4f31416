import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { ScimRecord } from '../../src/database/models/scim-record.ts';
import { selectWithin, whileInTime } from '../../src/database/select-within.ts';
import { transaction } from '../../src/database/transaction.ts';
import { searchDocument } from '../../src/services/foundation/scim-user/search.ts';
import { inListTurn } from '../../src/services/provisioning/scim/list/filtered.ts';
import { listPositions } from '../../src/services/provisioning/scim/list/positions.ts';
import { listScimUsers } from '../../src/services/provisioning/scim/list/records.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { fresh } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { filtered, type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/**
 * Inserts records into the database, with creation times an hour ago, in the order of their names.
 * All have the `externalId`, if given.
 */
async function fill(
  client: ScimClient,
  count: number,
  externalId: string | null = null,
): Promise<void> {
  const at = (n: number) => new Date(Date.now() - 3_600_000 + n);
  const people = Array.from({ length: count }, (_, n) => ({ account: crypto.randomUUID(), n }));
  await transaction(async () => {
    await Account.bulkCreate(
      people.map(({ account, n }) => ({
        id: account,
        email: null,
        emailProof: 'none' as const,
        name: 'x',
        createdAt: at(n),
      })),
    );
    await ScimRecord.bulkCreate(
      people.map(({ account, n }) => {
        const userName = `u${String(n).padStart(6, '0')}`;
        const resource = { userName, title: `t${n % 7}` };
        return {
          id: crypto.randomUUID(),
          organizationId: client.org.id,
          accountId: account,
          link: 'created' as const,
          userName,
          userNameCanonical: userName,
          externalId,
          active: false,
          hidden: false,
          resource: JSON.stringify(resource),
          search: searchDocument(resource),
          version: 1,
          createdAt: at(n),
          modifiedAt: at(n),
        };
      }),
    );
  });
}

/** Reads the whole list in pages; returns the names, and the different totals of the pages. */
async function crawl(client: ScimClient, size: number) {
  const [names, totals] = [[] as string[], new Set<number>()];
  for (let startIndex = 1; ; startIndex += size) {
    const { body } = await client.get(
      `/Users?startIndex=${startIndex}&count=${size}&attributes=userName`,
    );
    totals.add(body.totalResults);
    if (body.Resources.length === 0) return { names, totals: [...totals] };
    names.push(...body.Resources.map((one: { userName: string }) => one.userName));
  }
}

test('a crawl by startIndex sees every User once, in order, with a constant total', async () => {
  const client = await scimClient(idctl);
  await fill(client, 2345);
  const { names, totals } = await crawl(client, 193);
  expect(totals).toEqual([2346]);
  expect(names.slice(0, 2345)).toEqual(
    Array.from({ length: 2345 }, (_, n) => `u${String(n).padStart(6, '0')}`),
  );
  expect(names).toHaveLength(2346);
  expect(listPositions(idctl.app).get(client.org.id)?.at).toHaveLength(4);
});

test('a page far into the list has the right Users, and a page past the end is empty', async () => {
  const client = await scimClient(idctl);
  await fill(client, 1700);
  const page = async (startIndex: number) =>
    (await client.get(`/Users?startIndex=${startIndex}&count=2`)).body;
  expect((await page(1501)).Resources).toMatchObject([
    { userName: 'u001500' },
    { userName: 'u001501' },
  ]);
  expect((await page(501)).Resources).toMatchObject([
    { userName: 'u000500' },
    { userName: 'u000501' },
  ]);
  expect(await page(1701)).toMatchObject({ itemsPerPage: 1, totalResults: 1701 });
  expect(await page(1702)).toMatchObject({ itemsPerPage: 0, totalResults: 1701 });
});

test('a new User is at the end of the list at once; a deleted User disappears at once, and later pages move up by one', async () => {
  const client = await scimClient(idctl);
  await fill(client, 1200);
  await client.get('/Users?startIndex=1101&count=1');
  const joined = await client.create({ userName: fresh('late') });
  const last = await client.get('/Users?startIndex=1202&count=5');
  expect(last.body).toMatchObject({ totalResults: 1202, Resources: [{ id: joined.id }] });
  const early = await ScimRecord.findOne({
    where: { organizationId: client.org.id, userName: 'u000010' },
  });
  await deleteUser(idctl.operator(), { user: String(early?.accountId) });
  const { body } = await client.get('/Users?startIndex=1101&count=1');
  expect(body).toMatchObject({ totalResults: 1201, Resources: [{ userName: 'u001101' }] });
});

test('an admin pages through the Users in the same order; the cursor of a deleted User is refused', async () => {
  const client = await scimClient(idctl);
  await fill(client, 250);
  const page = (cursor?: string) =>
    listScimUsers(idctl.operator(), {
      org: client.org.slug,
      limit: 100,
      ...(cursor && { cursor }),
    });
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await page(cursor);
    names.push(...items.map(({ userName }) => userName));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  const all = Array.from({ length: 250 }, (_, n) => `u${String(n).padStart(6, '0')}`);
  expect(names).toEqual([...all, client.org.owner.email]);
  const [{ id } = { id: '' }] = (await page()).items;
  const gone = await ScimRecord.findByPk(id, { rejectOnEmpty: true });
  await deleteUser(idctl.operator(), { user: gone.accountId });
  await expect(page(id)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a filter without an index and a sorted list are answered, with their totals', async () => {
  const client = await scimClient(idctl);
  await fill(client, 1400);
  const { body } = await client.get(`${filtered('title eq "T3"')}&startIndex=100&count=3`);
  expect(body).toMatchObject({ totalResults: 200, startIndex: 100, itemsPerPage: 3 });
  const sorted = await client.get(
    '/Users?sortBy=userName&sortOrder=descending&count=1&startIndex=2',
  );
  expect(sorted.body.totalResults).toBe(1401);
});

/** Takes the organization's turn of slow lists until `end`. */
async function takeListTurn({ org }: ScimClient) {
  const [began, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const turn = inListTurn(org.id, performance.now() + 60_000, () => {
    began.resolve();
    return ends.promise;
  });
  await began.promise;
  return {
    end: () => {
      ends.resolve();
      return turn;
    },
  };
}

test('a filter that runs out of time gets 400 tooMany; a filter on an indexed attribute does not wait', async () => {
  const client = await scimClient(idctl);
  const turn = await takeListTurn(client);
  const slow = client.get(filtered('title eq "x"'));
  // A search over all resource types is refused as a whole.
  const everything = client.send('POST', '/.search', { filter: 'externalId co "x"' });
  expect((await client.get(filtered('userName eq "x"'))).status).toBe(200);
  expect((await client.get('/Users')).status).toBe(200);
  expect(await slow).toMatchObject({ status: 400, body: { scimType: 'tooMany', status: '400' } });
  expect(await everything).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
  await turn.end();
  expect((await client.get(filtered('title eq "x"'))).status).toBe(200);
});

test('a filter by a key that many Users share waits for its turn; filters by other keys do not wait', async () => {
  const client = await scimClient(idctl);
  await fill(client, 60, 'same');
  await client.create({ userName: fresh('one'), externalId: 'own' });
  const turn = await takeListTurn(client);
  const slow = client.get(filtered('externalId eq "same"'));
  for (const filter of ['externalId eq "own"', 'externalId eq "none" or emails eq "none"']) {
    expect((await client.get(`${filtered(filter)}&sortBy=title`)).status).toBe(200);
  }
  expect(await slow).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
  await turn.end();
  const { body } = await client.get(`${filtered('externalId eq "same"')}&startIndex=59&count=5`);
  expect(body).toMatchObject({
    totalResults: 60,
    itemsPerPage: 2,
    Resources: [{ userName: 'u000058' }, {}],
  });
});

test('a query that takes too long is stopped, and the next query runs', async () => {
  const endless = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE ${whileInTime(dialect)})
    SELECT count(*) AS c FROM n`;
  const started = performance.now();
  const [late, beside] = await Promise.allSettled([
    selectWithin(300, { sql: endless, bind: [] }),
    Account.count(),
  ]);
  expect(late).toMatchObject({ status: 'rejected', reason: { name: 'OutOfTime' } });
  expect(beside.status).toBe('fulfilled');
  expect(performance.now() - started).toBeLessThan(5000);
  expect(await selectWithin(60_000, { sql: 'SELECT $1 AS a', bind: ['x'] })).toEqual([{ a: 'x' }]);
  await expect(selectWithin(60_000, { sql: 'SELECT nothing', bind: [] })).rejects.not.toMatchObject(
    {
      name: 'OutOfTime',
    },
  );
});
