import { afterEach, beforeEach, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { deleteOld, maxDeleted } from '../../src/database/delete-batches.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { RefreshToken } from '../../src/database/models/refresh-token.ts';
import { Session } from '../../src/database/models/session.ts';
import { SpentState } from '../../src/database/models/spent-state.ts';
import { select } from '../../src/database/select.ts';
import { transaction, unsynced } from '../../src/database/transaction.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { person } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { multiply, nthId } from '../support/plans.ts';
import { sweepNow } from '../support/sweep.ts';

let idctl: Idctl;
beforeEach(async () => {
  idctl = await openIdctl({ mail: { smtpUrl: 'smtp://127.0.0.1:9' } });
});
afterEach(() => idctl.close());

const sweep = () => sweepNow(idctl.as({ kind: 'system', name: 'sweep' }));
const day = 86_400;

/** Adds this many used states that have expired. */
async function makeStates(count: number): Promise<void> {
  const expiresAt = new Date(Date.now() - day * 1000);
  await transaction(() => SpentState.create({ id: 'seed', expiresAt }));
  await multiply('spent_states', count - 1, { id: `'s' || n` });
}

test('a sweep deletes at most 200,000 rows of a table, and the next sweep deletes the rest', async () => {
  await makeStates(maxDeleted + 300);
  await sweep();
  expect(await SpentState.count()).toBe(300);
  await sweep();
  expect(await SpentState.count()).toBe(0);
}, 180_000);

test.runIf(dialect === 'sqlite')(
  'another writer gets its turn between two batches of a sweep',
  async () => {
    await makeStates(5000);
    const sweeping = sweep();
    // With a wait for the disk, the sweep could run all batches during one wait.
    const count = () => unsynced(() => SpentState.count());
    let left = await count();
    while (left === 5000) left = await count();
    expect(left).toBeGreaterThan(0);
    await sweeping;
    expect(await SpentState.count()).toBe(0);
  },
);

test('a daemon that stops does not wait for the whole sweep', async () => {
  await makeStates(2000);
  const stop = new AbortController();
  const old = { column: 'expires_at', before: new Date() };
  const deleting = deleteOld(SpentState, old, stop.signal);
  stop.abort();
  await deleting;
  expect(await SpentState.count()).toBe(1500);
  await sweepExpired(idctl.operator(), { stop: stop.signal });
  expect(await SpentState.count()).toBe(1500);
});

test.runIf(dialect === 'postgres')('a sweep skips rows locked by another daemon', async () => {
  await makeStates(1200);
  const other = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = transaction(async () => {
    await select(`SELECT id FROM spent_states WHERE id = 's7' FOR UPDATE`, []);
    locked.resolve();
    await other.promise;
  });
  await locked.promise;
  await sweep();
  expect((await SpentState.findAll()).map(({ id }) => id)).toEqual(['s7']);
  other.resolve();
  await holding;
  await sweep();
  expect(await SpentState.count()).toBe(0);
});

test('P4 a refresh token is deleted when it has expired, even if its session continues', async () => {
  const { id: accountId } = await person(idctl);
  const now = Date.now();
  const at = (days: number) => new Date(now + days * day * 1000);
  const session = orderedId();
  const times = { createdAt: at(0), lastSeenAt: at(0), expiresAt: at(30) };
  const of = { connectionId: null, organizationId: null, address: null, userAgent: null };
  const token = { sessionId: session, keyId: 'k', issuedAt: at(0) };
  await transaction(async () => {
    await Session.create({ id: session, accountId, method: 'password', ...of, ...times });
    await RefreshToken.create({ id: orderedId(), ...token, expiresAt: at(14) });
    await RefreshToken.create({ id: orderedId(), ...token, expiresAt: at(15) });
  });
  const left = async () => {
    await sweep();
    return [await Session.count({ where: { id: session } }), await RefreshToken.count()];
  };
  idctl.wait(14 * day - 60);
  expect(await left()).toEqual([1, 2]);
  idctl.wait(120);
  expect(await left()).toEqual([1, 1]);
  idctl.wait(16 * day);
  expect(await left()).toEqual([0, 0]);
});

test('P11 unconfirmed sign-ups are deleted after seven days, each with an event, even more than one batch', async () => {
  const { id } = await person(idctl);
  await transaction(() => Account.update({ emailProof: 'none' }, { where: { id } }));
  await multiply('accounts', 119, { id: nthId('a000'), email: `'m' || n || '@acme.test'` });
  idctl.wait(7 * day - 60);
  await sweep();
  expect(await Account.count()).toBe(120);
  idctl.wait(120);
  await sweep();
  expect(await Account.count()).toBe(0);
  expect(await Event.count({ where: { kind: 'user.deleted' } })).toBe(120);
});
