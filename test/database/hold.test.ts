import { afterAll, beforeAll, expect, test } from 'vitest';
import { hold } from '../../src/database/hold.ts';
import { Account } from '../../src/database/models/account.ts';
import { Organization } from '../../src/database/models/organization.ts';
import type { Database } from '../../src/database/open.ts';
import { transaction } from '../../src/database/transaction.ts';
import { openFreshDatabase } from '../support/database.ts';

// The order in which a transaction holds rows is checked in every test. This file tests the check.

let database: Database;
const [first, second] = [crypto.randomUUID(), crypto.randomUUID()].toSorted();
const ids = { first: `${first}`, second: `${second}`, organization: crypto.randomUUID() };

beforeAll(async () => {
  database = await openFreshDatabase();
  await transaction(async () => {
    const createdAt = new Date();
    await Organization.create({ id: ids.organization, slug: 'acme', name: 'Acme', createdAt });
    for (const id of [ids.first, ids.second])
      await Account.create({ id, email: null, emailProof: 'none', name: id, createdAt });
  });
});

afterAll(() => database.close());

const holdOrganization = () => hold.organization({ id: ids.organization }, 'alone');

test('a transaction holds accounts before an organization', async () => {
  await transaction(async () => {
    await hold.account(ids.first);
    await hold.account(ids.second);
    expect(await holdOrganization()).toMatchObject({ slug: 'acme' });
    // Rows that are held already may be held again.
    expect(await hold.account(ids.first)).toMatchObject({ id: ids.first });
    await hold.accounts([ids.second, ids.first]);
  });
});

test('an account after an organization is a fault', async () => {
  const work = transaction(async () => {
    await holdOrganization();
    await hold.account(ids.first);
  });
  await expect(work).rejects.toThrow(
    `account ${ids.first} is held after organization ${ids.organization}`,
  );
});

test('an account that is held without being read has its place in the order too', async () => {
  const work = transaction(async () => {
    await holdOrganization();
    await hold.accounts([ids.first]);
  });
  await expect(work).rejects.toThrow('is held after organization');
});

test('two accounts in the wrong order are a fault', async () => {
  const work = transaction(async () => {
    await hold.account(ids.second);
    await hold.account(ids.first);
  });
  await expect(work).rejects.toThrow(`account ${ids.first} is held after account ${ids.second}`);
});

test('a row that others may hold beside is not held alone later', async () => {
  const work = transaction(async () => {
    await hold.account(ids.first, 'beside');
    await hold.account(ids.first);
  });
  await expect(work).rejects.toThrow(`account ${ids.first} is held as beside, and now as alone`);
});

test('each transaction has its own order', async () => {
  await transaction(holdOrganization);
  await transaction(() => hold.account(ids.first));
});
