import { afterEach, expect, test } from 'vitest';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { password } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import {
  type Arrived,
  arrived,
  browserAt,
  lettersOf,
  subjectsOf,
  withTotp,
} from '../support/notices.ts';

let site: MailingIdctl;
afterEach(() => site.close());

/** Makes changes that are each told, the last in another browser. */
async function changeMuch(): Promise<Arrived> {
  const who = await arrived(site);
  const [recoveryCode] = (await withTotp(who)).recoveryCodes;
  const elsewhere = browserAt(site);
  const given = { email: who.email, password, recoveryCode };
  expect((await elsewhere.post('/api/v1/auth/login', given)).status).toBe(200);
  const change = { currentPassword: password, newPassword: 'a staple of another kind' };
  expect((await elsewhere.post('/api/v1/me/password', change)).status).toBe(204);
  return who;
}

test('with mail.notices off, nothing is queued', async () => {
  site = await openMailingIdctl({ mail: { smtpUrl: 'smtp://127.0.0.1:9', notices: 'off' } });
  await changeMuch();
  expect(await OutboxItem.count()).toBe(0);
});

test('without mail, nothing is queued', async () => {
  site = await openMailingIdctl({ mail: {} });
  await changeMuch();
  expect(await OutboxItem.count()).toBe(0);
});

test('if the mail server is down, the changes are made, and their notices wait in the outbox', async () => {
  site = await openMailingIdctl();
  site.smtp.refuse(450);
  const who = await changeMuch();
  const told = [
    'A recovery code was used - idctl',
    'An authenticator app was added - idctl',
    'Sign-in from a new browser - idctl',
    'Your password was changed - idctl',
  ];
  expect(await lettersOf(who)).toEqual([]);
  expect(await OutboxItem.count()).toBe(told.length);
  site.smtp.refuse(null);
  site.wait(11);
  expect((await subjectsOf(who)).toSorted()).toEqual(told);
});
