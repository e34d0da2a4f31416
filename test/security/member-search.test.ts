import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { firstKey } from '../../src/services/foundation/page.ts';
import { findMembers } from '../../src/services/tenancy/memberships/search.sql.ts';
import { organization, signedIn } from '../support/builders.ts';
import { fillMembers } from '../support/capped.ts';
import { fastest } from '../support/fastest.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { turnsDuring } from '../support/turns.ts';

// A search of members does not delay other requests (security O15, X11).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const members = 3000;

async function crowd() {
  const { id, slug, owner } = await organization(idctl);
  await fillMembers(id, members);
  const sql = `UPDATE accounts SET name = $1 WHERE id IN
    (SELECT account_id FROM memberships WHERE organization_id = $2 AND role = 'member')`;
  await transaction(() => execute(sql, ['a'.repeat(200), id]));
  const client = await signedIn(idctl, owner.email);
  const search = (q: string) => findMembers(id, { from: firstKey, back: false, limit: 50, q });
  return { client, at: `/api/v1/orgs/${slug}/members`, search };
}

describe('O15 X11 a search of members', () => {
  const hostile = `${'a'.repeat(59)}b`;

  test('O15 X11 a search that nearly matches every member costs about as much as a harmless one', async () => {
    const { client, at, search } = await crowd();
    expect(await client.get(`${at}?q=${hostile}`)).toMatchObject({
      status: 200,
      body: { items: [], nextCursor: null },
    });
    const harmless = await fastest(() => search('absent'));
    const long = await fastest(() => search(hostile));
    expect([harmless, long, long < 5 * harmless]).toEqual([harmless, long, true]);
  });

  test('O15 X11 a search of members lets other work run after every thousand members', async () => {
    const { search } = await crowd();
    expect(await turnsDuring(search(hostile))).toBeGreaterThan(members / 2000);
  });

  test('O15 X11 a search for more than 60 characters is refused', async () => {
    const { owner, slug } = await organization(idctl);
    const client = await signedIn(idctl, owner.email);
    const at = `/api/v1/orgs/${slug}/members`;
    expect((await client.get(`${at}?q=${'a'.repeat(60)}`)).status).toBe(200);
    expect((await client.get(`${at}?q=${'a'.repeat(61)}`)).status).toBe(400);
  });
});
