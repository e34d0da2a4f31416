import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { Account } from '../../src/database/models/account.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createUser, disableUser } from '../../src/services/people/users/operations.ts';
import { fresh, password, person } from '../support/builders.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

const cost = { memory: 64, time: 1, lanes: 1, maxWaitMs: 60_000 };

let idctl: Idctl;

beforeAll(async () => {
  // No mail is sent. Without this setting, an unconfirmed account could sign in.
  idctl = await openIdctl({
    limits: { addressFailures: 1000 },
    mail: { smtpUrl: 'smtp://127.0.0.1:9' },
  });
});
beforeEach(() => {
  idctl.app.passwords = createPasswordHasher(cost);
});
afterAll(() => idctl.close());

function tryPassword(email: string | null, given: string): Promise<Answer> {
  return idctl.client().post('/api/v1/auth/login', { email, password: given });
}

/** The whole answer, except the request id and the time. */
function wire({ status, headers, body }: Answer): string {
  const { requestId, ...rest } = body;
  expect(requestId).toBe(headers['x-request-id']);
  return JSON.stringify([status, { ...headers, date: '', 'x-request-id': '' }, rest]);
}

/** An address for each reason why a sign-in fails, and the password that is tried. */
async function failures(): Promise<[email: string | null, given: string][]> {
  const [known, disabled, unconfirmed] = [
    await person(idctl),
    await person(idctl),
    await person(idctl),
  ];
  await transaction(() =>
    Account.update({ emailProof: 'none' }, { where: { id: unconfirmed.id } }),
  );
  await disableUser(idctl.operator(), { user: disabled.id });
  const federated = { email: `${fresh('sso')}@example.test`, name: 'Only SSO' };
  await createUser(idctl.operator(), federated);
  return [
    [`${fresh('nobody')}@example.test`, password],
    [known.email, 'wrong horse battery'],
    [disabled.email, password],
    [federated.email, password],
    [unconfirmed.email, password],
  ];
}

test('P7 a wrong password and an unknown, disabled, unconfirmed or passwordless account get the same bytes but for the request id', async () => {
  const seen: string[] = [];
  for (const [email, given] of await failures()) seen.push(wire(await tryPassword(email, given)));
  expect(seen[0]).toContain('signin_failed');
  expect(new Set(seen).size).toBe(1);
});

test('P7 a wrong password and an unknown, disabled, unconfirmed or passwordless account cost the same work, one hash each', async () => {
  for (const [email, given] of await failures()) {
    const { verify } = createPasswordHasher(cost);
    let hashes = 0;
    idctl.app.passwords.verify = (...args) => {
      hashes += 1;
      return verify(...args);
    };
    expect((await tryPassword(email, given)).status).toBe(401);
    expect(hashes).toBe(1);
  }
});

test('P6 a request that waits too long for its turn gets 503 with Retry-After, and is not counted', async () => {
  const { email } = await person(idctl);
  const busy = createPasswordHasher({ ...cost, concurrency: 1, maxWaitMs: 30 });
  idctl.app.passwords = busy;
  const held = Promise.withResolvers<void>();
  // Both places are taken: one to hash, and one to be counted while the first hashes.
  const holding = [1, 2].map(() => busy.verify(null, 'x', () => held.promise));
  const before = await Counter.count();
  for (let done = 0; done < 12; done += 1) {
    const answer = await tryPassword(email, 'wrong');
    expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' }, cookies: [] });
    expect(answer.headers['retry-after']).toBe('1');
  }
  expect(await Counter.count()).toBe(before);
  held.resolve();
  await Promise.all(holding);
  expect((await tryPassword(email, password)).status).toBe(200);
});

test('P6 a password that is too long is refused before anything is hashed', async () => {
  const { email } = await person(idctl);
  idctl.app.passwords.verify = () => Promise.reject(new Error('hashed'));
  expect((await tryPassword(email, 'x'.repeat(2000))).status).toBe(400);
});
