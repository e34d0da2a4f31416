import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { idOfInstant } from '../../src/crypto/id.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { ScimRequest } from '../../src/database/models/scim-request.ts';
import { SpentState } from '../../src/database/models/spent-state.ts';
import { execute, refreshStatistics } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listAllEvents, listEvents } from '../../src/services/foundation/events/operations.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { createToken, listTokens } from '../../src/services/people/tokens/operations.ts';
import { writeTokenUses } from '../../src/services/people/tokens/token.ts';
import { listUsers } from '../../src/services/people/users/operations.ts';
import { rotateScimToken, writeScimTokenUses } from '../../src/services/provisioning/scim/token.ts';
import { listMembers } from '../../src/services/tenancy/memberships/operations.ts';
import { appOf } from '../support/apps.ts';
import { organization, password } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { multiply, nthId, nthInstant, slowSteps, watchStatements } from '../support/plans.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

// The statements of frequent requests and jobs, as the driver gets them, with 20,000 rows in each
// table that grows. None may read or sort a whole table.

const rows = 20_000;
let idctl: Idctl;
let statements: ReturnType<typeof watchStatements>;

beforeAll(async () => {
  statements = watchStatements();
  idctl = await openIdctl();
}, 60_000);
afterAll(async () => {
  await idctl.close();
  vi.restoreAllMocks();
});

/** Steps that are meant: they read or sort few rows, whatever the size of the table. */
const meant: { sql: RegExp; step: RegExp; because: string }[] = [
  {
    sql: /FROM memberships m JOIN accounts a .* r\.id IS NULL/s,
    step: /./,
    because: 'it runs once, when an organization gets its first SCIM token',
  },
  {
    sql: /LEFT JOIN memberships m ON m.account_id = a.id/,
    step: /FOR ORDER BY/,
    because: 'it sorts the memberships of one account',
  },
  {
    sql: /WITH found|\) page/,
    step: /FOR ORDER BY/,
    because: 'at most a page is sorted',
  },
];

/** Statements that must be among those taken, or the test would hold nothing. */
const hottest = [
  /FROM access_tokens t JOIN accounts/,
  /FROM sessions s JOIN accounts/,
  /FROM scim_tokens WHERE hash/,
  /FROM apps p JOIN accounts/,
  /INSERT\s+INTO counters/,
  /WITH found/,
  /FROM scim_records\s+WHERE organization_id = .* LIMIT/s,
  /FROM memberships AS Membership .* LIMIT/,
  /FROM events AS Event .* LIMIT/,
  /DELETE FROM counters/,
  /DELETE FROM sessions/,
];

test.skipIf(sqliteDriver === 'sqlite3')(
  'no frequent statement reads or sorts a whole table of 20,000 rows',
  async () => {
    const { operator } = idctl;
    const { id, slug, owner } = await organization(idctl);
    const pat = (await createToken(operator(), { user: owner.id, name: 'plans' })).token;
    const app = await appOf(idctl, { user: owner.id, organization: slug });
    const bot = await app.mint();
    const browser = idctl.client({ keepCookies: true });
    await browser.post('/api/v1/auth/login', { email: owner.email, password });
    const { token } = await rotateScimToken(operator(), { org: slug });
    const scim = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    await fill(id, owner.id);
    if (dialect === 'postgres') await transaction(() => execute('ANALYZE', []));
    await refreshStatistics();

    for (const credential of [pat, bot]) {
      const headers = { authorization: `Bearer ${credential}` };
      await idctl.client({ headers }).get('/api/v1/me');
    }
    await browser.get('/api/v1/me');
    await idctl.client().post('/api/v1/auth/login', { email: owner.email, password: 'wrong' });
    await app.mint();
    const users = `/scim/v2/orgs/${id}/Users`;
    for (const query of ['count=100', 'count=100&startIndex=15001']) {
      expect((await scim.get(`${users}?${query}`)).status).toBe(200);
    }
    for (const filter of ['userName eq "u7"', 'externalId eq "e7"', 'emails eq "m7@plans.test"']) {
      const { body } = await scim.get(`${users}?filter=${encodeURIComponent(filter)}`);
      expect([filter, body.totalResults]).toEqual([filter, 1]);
    }
    const page = { limit: 50, cursor: '00000000-0000-7000-a000-100000010000' };
    await listMembers(operator(), { org: slug, ...page });
    await listUsers(operator(), page);
    await listTokens(operator(), { user: owner.id, limit: 50 });
    await listEvents(operator(), { org: slug, ...page });
    await listAllEvents(operator(), page);
    await writeTokenUses(operator());
    await writeScimTokenUses(operator());
    await sweepExpired(operator());

    const taken = statements.take();
    for (const hot of hottest) {
      const isTaken = taken.some(({ sql }) => hot.test(sql.replaceAll(/[`"]/g, '')));
      expect([hot, isTaken]).toEqual([hot, true]);
    }
    const slow: Record<string, string[]> = {};
    for (const statement of taken) {
      const steps = (await slowSteps(statement, rows / 10)).filter(
        (step) => !meant.some((each) => each.sql.test(statement.sql) && each.step.test(step)),
      );
      if (steps.length > 0) slow[statement.sql] = steps;
    }
    expect(slow).toEqual({});
  },
  180_000,
);

/** Makes 20,000 rows of each table, from a seed row. */
async function fill(organizationId: string, accountId: string): Promise<void> {
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  const account = nthId('a000');
  const recently = idOfInstant(now.getTime()).slice(0, 13);
  await transaction(async () => {
    await Counter.create({
      key: 'seed',
      subject: 'seed',
      windowId: crypto.randomUUID(),
      used: 1,
      seconds: 3600,
      beganAt: now.getTime() / 1000,
      expiresAt: later.getTime() / 1000,
    });
    await OutboxItem.create({
      id: crypto.randomUUID(),
      kind: 'mail',
      payload: {},
      createdAt: now,
      nextAt: later,
    });
    await SpentState.create({ id: 'seed', expiresAt: later });
    await ScimRequest.create({
      id: crypto.randomUUID(),
      organizationId,
      at: now,
      method: 'GET',
      path: '/Users',
      status: 200,
      reason: null,
    });
    await MailCode.create({
      accountId,
      purpose: 'reset',
      hash: 'seed',
      tries: 0,
      expiresAt: later,
    });
  });
  const word = (start: string) => `'${start}' || n`;
  await multiply('accounts', rows, { id: account, email: `'m' || n || '@plans.test'` });
  await multiply('memberships', rows, { account_id: account });
  await multiply('sessions', rows, { id: nthId('a001'), account_id: account });
  await multiply('refresh_tokens', rows, {
    id: nthId('a002', recently),
    session_id: nthId('a001'),
  });
  await multiply('access_tokens', rows, {
    id: nthId('a003'),
    account_id: account,
    hash: word('h'),
  });
  await multiply('apps', rows, {
    id: nthId('a008'),
    account_id: account,
    client_id: word('c'),
    secret_hash: word('h'),
  });
  await multiply('events', rows, { id: nthId('a004', recently) });
  await multiply('counters', rows, { key: word('k'), subject: word('s') });
  await multiply('outbox', rows, { id: nthId('a005') });
  await multiply('spent_states', rows, { id: word('s') });
  await multiply('scim_requests', rows, { id: nthId('a006') });
  await multiply('mail_codes', rows, { account_id: account });
  await multiply('scim_records', rows, {
    id: nthId('a007'),
    account_id: account,
    user_name: word('u'),
    user_name_canonical: word('u'),
    external_id: word('e'),
    created_at: nthInstant(),
  });
  await transaction(() =>
    execute(
      `INSERT INTO scim_emails (record_id, value_canonical, organization_id)
       SELECT r.id, 'm' || substr(r.user_name, 2) || '@plans.test', r.organization_id
         FROM scim_records r WHERE r.external_id IS NOT NULL`,
      [],
    ),
  );
}
