import { afterEach, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { transaction } from '../../src/database/transaction.ts';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
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

/** Makes new recovery codes, each time with a notice. */
async function makeCodes({ client }: Arrived, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1)
    expect((await client.post('/api/v1/me/recovery-codes')).status).toBe(201);
}

const newCodes = 'New recovery codes were created - idctl';
const countNew = async (who: Arrived) =>
  (await subjectsOf(who)).filter((subject) => subject === newCodes).length;

test('X5 an account gets at most 20 notices in an hour, of all kinds together; each change is still an event', async () => {
  site = await openMailingIdctl({ limits: { enabled: 'off' } });
  const [who, other] = [await arrived(site), await arrived(site)];
  // The authenticator app is the first notice.
  await withTotp(who);
  await makeCodes(who, 25);
  expect(await countNew(who)).toBe(19);
  const events = await Event.findAll({ where: { kind: 'user.recovery_codes.created' } });
  expect(events.filter(({ subject }) => subject?.id === who.id)).toHaveLength(26);
  await withTotp(other);
  await makeCodes(other, 1);
  expect(await countNew(other)).toBe(1);
  site.wait(3600);
  await resetTotp(site.operator(), { user: who.email, passkeys: false });
  expect((await subjectsOf(who)).at(-1)).toBe('Your second factor was reset - idctl');
});

test.each(['auto', 'former domain'] as const)(
  'an address with the proof %s gets no notice and no mail about its deleted account',
  async (emailProof) => {
    site = await openMailingIdctl();
    const who = await arrived(site);
    await transaction(() => Account.update({ emailProof }, { where: { id: who.id } }));
    await withTotp(who);
    expect((await who.client.send('DELETE', '/api/v1/me')).status).toBe(204);
    expect(await lettersOf(who)).toEqual([]);
  },
);
