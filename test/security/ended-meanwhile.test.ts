import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientOrigin } from '../../src/database/models/client.ts';
import { transaction, transactionsInHand } from '../../src/database/transaction.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh } from '../support/builders.ts';
import { browserAt, next, verify } from '../support/forward-auth.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { application, browserOf, walkToDenial } from '../support/relying-party.ts';

// A membership is removed while a request that it still allowed is about to write.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

type Application = Awaited<ReturnType<typeof application>>;

/** Sends the request while a transaction removes the membership; then adds the membership again. */
async function duringRemoval<T>(app: Application, request: () => Promise<T>): Promise<T> {
  const removed = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const org = app.org.slug;
  const ending = transaction(async () => {
    await removeMember(idctl.operator(), { org, user: app.member.id });
    removed.resolve();
    await asked.promise;
  });
  await removed.promise;
  const answer = request();
  let isAnswered = false;
  const answered = answer.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  // Wait until the removal blocks the request, or the request is answered.
  while (!isAnswered && transactionsInHand() < 2) await Promise.race([answered, sleep(5)]);
  asked.resolve();
  await ending;
  const got = await answer;
  await addMember(idctl.operator(), { org, email: app.email, role: 'member' });
  return got;
}

/** A back-channel logout. With it, a grant stays stored until idctl queues the logout message. */
const told = { backchannelLogoutUri: 'https://app.example.test/told' };

test('O10 no code is issued if the membership is removed at the same time', async () => {
  const app = await application(idctl, told);
  const browser = await browserOf(idctl, app.email);
  await app.signIn(browser);
  const { path } = await app.begin();
  const { back } = await duringRemoval(app, () => walkToDenial(browser, path));
  expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual([
    'access_denied',
    null,
  ]);
});

test('O11 no ticket is issued if the membership is removed at the same time', async () => {
  const app = await application(idctl);
  const origin = `https://${fresh('app')}.example.net`;
  const row = { origin, clientId: app.row.id, byOperator: true };
  await transaction(() => ClientOrigin.create(row));
  const [session, browser] = [await browserOf(idctl, app.email), browserAt(idctl, origin)];
  const away = next(await browser.get(next(await verify(browser))));
  const answer = await duringRemoval(app, () => session.get(away, { accept: 'text/html' }));
  expect([answer.status, answer.headers['location']]).toEqual([403, undefined]);
});
