import { afterEach, beforeEach, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { transaction } from '../../src/database/transaction.ts';
import { deliverMail } from '../../src/services/instance/mail/deliver.ts';
import { person } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { startSilentSmtp } from '../support/smtp.ts';

let idctl: MailingIdctl;
beforeEach(async () => {
  idctl = await openMailingIdctl();
});
afterEach(() => idctl.close());

const turn = () => idctl.deliver();
const abandoned = () => Event.findAll({ where: { kind: 'mail.abandoned' } });

/** Requests a new password for a new account, and returns its address. */
async function asking(): Promise<string> {
  const email = (await person(idctl)).email ?? '';
  expect((await idctl.client().post('/api/v1/auth/password/reset', { email })).status).toBe(202);
  return email;
}

test('a mail that cannot be sent is tried again at growing intervals, and the request does not wait for it', async () => {
  idctl.smtp.refuse(450);
  const email = await asking();
  const waits: number[] = [];
  for (let tries = 1; tries <= 4; tries += 1) {
    await turn();
    expect(idctl.smtp.connections()).toBe(tries);
    await turn();
    expect(idctl.smtp.connections()).toBe(tries);
    const [item] = await OutboxItem.findAll();
    const left = (item?.nextAt.getTime() ?? 0) - idctl.app.clock().getTime();
    // On a busy machine, a part of the wait has already passed.
    waits.push(Math.ceil(left / 10_000) * 10);
    idctl.wait(1 + (waits.at(-1) ?? 0));
  }
  expect(waits).toEqual([10, 20, 40, 80]);
  idctl.smtp.refuse(null);
  idctl.wait(1);
  const [letter] = await idctl.lettersTo(email);
  const code = /\b\d{6}\b/.exec(letter?.text ?? '')?.[0];
  const confirm = { email, code, newPassword: 'a staple of another kind' };
  expect((await idctl.client().post('/api/v1/auth/password/reset/confirm', confirm)).status).toBe(
    204,
  );
  expect(await abandoned()).toEqual([]);
});

test('after a day, idctl gives up on a mail and records an event with the reason', async () => {
  idctl.smtp.refuse(450);
  const email = await asking();
  idctl.wait(24 * 3600 - 5);
  await turn();
  expect(await abandoned()).toEqual([]);
  idctl.wait(3600);
  await turn();
  const reason = 'it did not accept the sender or the recipient';
  expect(await abandoned()).toMatchObject([{ data: { about: 'code', email, reason } }]);
  expect(await OutboxItem.count()).toBe(0);
});

test('a mail that the server refuses for good is given up at once', async () => {
  idctl.smtp.refuse(550);
  await asking();
  await turn();
  expect(await abandoned()).toHaveLength(1);
  expect(await OutboxItem.count()).toBe(0);
});

test('only one of several parallel runs of the mail job sends a mail; if a run is killed, a run a minute later sends its mail', async () => {
  const email = await asking();
  await Promise.all(Array.from({ length: 8 }, turn));
  expect(await idctl.lettersTo(email)).toHaveLength(1);

  await asking();
  // A daemon that is killed between claim and result leaves this row.
  const claim = { attempts: 1, nextAt: new Date(idctl.app.clock().getTime() + 60_000) };
  await transaction(() => OutboxItem.update(claim, { where: {} }));
  await turn();
  expect(idctl.smtp.letters).toHaveLength(1);
  idctl.wait(61);
  await turn();
  expect(idctl.smtp.letters).toHaveLength(2);
});

test('X4 P10 the outbox never contains the code, and its row is deleted once the mail is sent', async () => {
  const email = await asking();
  expect(JSON.stringify(await OutboxItem.findAll())).not.toMatch(/\b\d{6}\b/);
  const code = await idctl.codeFor(email);
  const tables = ['outbox', 'mail_codes', 'events', 'counters'];
  for (const table of tables) {
    const [rows] = (await OutboxItem.sequelize?.query(`SELECT * FROM ${table}`)) ?? [];
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`\\b${code}\\b`));
  }
  expect(await OutboxItem.count()).toBe(0);
});

test('a process that stops does not wait for a silent mail server', async () => {
  const silent = await startSilentSmtp();
  idctl.app.config.mail.smtpUrl = silent.url;
  await asking();
  const stop = new AbortController();
  const anew = () => idctl.as({ kind: 'system', name: 'mail' });
  const ended = deliverMail(anew(), { stop: stop.signal, anew });
  while (silent.connections() === 0) await new Promise((next) => setTimeout(next, 10));
  const before = Date.now();
  stop.abort();
  await ended;
  expect(Date.now() - before).toBeLessThan(5000);
  expect(await OutboxItem.count()).toBe(1);
  await silent.stop();
});
