import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderedId } from '../../../src/crypto/id.ts';
import { Account } from '../../../src/database/models/account.ts';
import { dialectOfDatabase } from '../../../src/database/select.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { apply, exported, foundEmpty, plan } from '../../support/documents.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const many = (count: number) => Array.from({ length: count }, (_, at) => at);

async function makeAccounts(emails: string[]): Promise<void> {
  const rows = emails.map((email) => ({
    id: orderedId(),
    email,
    name: 'Ada Byron',
    locale: 'en',
    emailProof: 'operator' as const,
    createdAt: new Date(),
  }));
  await transaction(() => Account.bulkCreate(rows));
}

/** Does the work, and prints how long it took. */
async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await work();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${dialectOfDatabase()}: ${what}: ${seconds} s\n`);
  return result;
}

test('a document with 1,000 projects, 5,000 mappings and 5,000 members can be planned and applied', async () => {
  const { slug } = await foundEmpty(idctl, 0);
  const operator = () => idctl.operator();
  const emails = many(5000).map((at) => `m${at}@people.test`);
  await makeAccounts(emails);
  const document = {
    idctl: 1,
    members: emails.map((email, at) => ({ email, role: at === 0 ? 'owner' : 'member' })),
    projects: many(1000).map((at) => ({
      slug: `p${at}`,
      name: `Project ${at}`,
      members: [{ email: emails[at], role: 'member' }],
    })),
    mappings: many(5000).map((at) => ({
      group: `group ${at}`,
      project: `p${at % 1000}`,
      role: 'member',
    })),
  };
  const planned = await timed('plan of all', () => plan(operator(), slug, document));
  expect(planned.changes).toHaveLength(12_000);
  await timed('plan and apply of all', () => apply(operator(), slug, document));
  const again = await timed('plan in sync', () => plan(operator(), slug, document, true));
  expect(again).toMatchObject({ changes: [], kept: [], blocked: [] });
  const found = await timed('export', () => exported(operator(), slug));
  expect(found['members']).toHaveLength(5000);
  const less = { ...document, mappings: document.mappings.slice(0, 1000) };
  const pruned = await timed('plan and apply of 4,000 removed mappings', () =>
    apply(operator(), slug, less, true),
  );
  expect(pruned.changes).toHaveLength(4000);
});
