import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { transaction } from '../../src/database/transaction.ts';
import { notify } from '../../src/services/foundation/mail/notify.ts';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, organization, password, signedIn, verifiedDomain } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type Arrived, arrived, lettersOf, subjectsOf, withTotp } from '../support/notices.ts';
import { addPasskey } from '../support/passkeys.ts';
import type { Letter } from '../support/smtp.ts';
import { openSocial, type Social, withGoogle } from '../support/social.ts';
import { comeBack } from '../support/sso.ts';

let social: Social<MailingIdctl>;
let idctl: MailingIdctl;
beforeAll(async () => {
  social = await openSocial(openMailingIdctl, { limits: { enabled: 'off' } });
  idctl = social.idctl;
});
afterAll(() => social.close());

const newPassword = 'a staple of another kind';

const when = /When: \d{1,2} [A-Z][a-z]+ \d{4} at \d\d:\d\d UTC\n/;

// Mails that are sent together may arrive in any order, so these tests deliver each one before the next.

/** The only letter to the person, which says when and where its change was made. */
async function onlyLetter(who: Arrived, subject: string): Promise<Letter> {
  const letters = await lettersOf(who);
  expect(letters.map((letter) => letter.subject)).toEqual([`${subject} - idctl`]);
  const [letter] = letters;
  if (letter === undefined) throw new Error('no letter');
  expect(letter.text).toMatch(when);
  return letter;
}

const fromHere = 'From: 127.0.0.1\nWith: Firefox on Linux\n';
const ifNot =
  /If it was you, do nothing\.\n\nIf it was not you, [^\n]+, and tell your administrator\./;

describe('a change that the person makes is told by mail', () => {
  test('a changed password', async () => {
    const who = await arrived(idctl);
    const change = { currentPassword: password, newPassword };
    expect((await who.client.post('/api/v1/me/password', change)).status).toBe(204);
    const { text, html } = await onlyLetter(who, 'Your password was changed');
    expect(text).toContain('The password of your account at idctl was changed.');
    expect(text).toContain(fromHere);
    expect(text).toMatch(ifNot);
    for (const fact of ['When', '127.0.0.1', 'Firefox on Linux']) expect(html).toContain(fact);
  });

  test('a password that a mailed code has reset', async () => {
    const who = await arrived(idctl);
    const { email, client } = who;
    await client.post('/api/v1/auth/password/reset', { email });
    const given = { email, code: await idctl.codeFor(email), newPassword };
    expect((await client.post('/api/v1/auth/password/reset/confirm', given)).status).toBe(204);
    const [, letter] = await lettersOf(who);
    expect(letter?.subject).toBe('Your password was changed - idctl');
    expect(letter?.text).toContain(fromHere);
  });

  test('an authenticator app with its first recovery codes, in one mail, and its removal', async () => {
    const who = await arrived(idctl);
    const { code } = await withTotp(who);
    const { text } = await onlyLetter(who, 'An authenticator app was added');
    expect(text).toContain('Recovery codes were created too.');
    expect(text).toContain(fromHere);
    const off = await who.client.post('/api/v1/me/totp/disable', { code: code() });
    expect(off.status).toBe(204);
    expect(await subjectsOf(who)).toEqual([
      'An authenticator app was added - idctl',
      'The authenticator app was removed - idctl',
    ]);
  });

  test('a passkey and its removal, with its name and no link in the name', async () => {
    const who = await arrived(idctl);
    const name = 'Phone at https://evil.test/now';
    const { answer } = await addPasskey(who.client, {}, { name });
    expect(answer.status).toBe(201);
    const { text } = await onlyLetter(who, 'A passkey was added');
    expect(text).toContain('The passkey "Phone at https evil test now" was added to your account');
    expect(text).toContain('Recovery codes were created too.');
    await who.client.send('DELETE', `/api/v1/me/passkeys/${answer.body.id}`);
    const [, removed] = await lettersOf(who);
    expect(removed?.subject).toBe('A passkey was removed - idctl');
    expect(removed?.text).toContain(fromHere);
  });

  test('P17 a recovery code that turns off the last factor: one mail, which promises no codes', async () => {
    const who = await arrived(idctl);
    const { recoveryCodes } = await withTotp(who);
    await idctl.deliver();
    const [recoveryCode] = recoveryCodes;
    expect((await who.client.post('/api/v1/me/totp/disable', { recoveryCode })).status).toBe(204);
    const [, ...letters] = await lettersOf(who);
    const subject = 'The authenticator app was removed - idctl';
    expect(letters.map((letter) => letter.subject)).toEqual([subject]);
    expect(letters[0]?.text).toContain('Its recovery codes ended too.');
  });

  test('a used recovery code, with the number of those left, and new codes', async () => {
    const who = await arrived(idctl);
    const { recoveryCodes } = await withTotp(who);
    await idctl.deliver();
    const [recoveryCode] = recoveryCodes;
    const given = { email: who.email, password, recoveryCode };
    expect((await who.client.post('/api/v1/auth/login', given)).status).toBe(200);
    const [, used] = await lettersOf(who);
    expect(used?.subject).toBe('A recovery code was used - idctl');
    expect(used?.text).toContain('was used. 9 codes are left.');
    expect(used?.text).toContain(fromHere);
    expect((await who.client.post('/api/v1/me/recovery-codes')).status).toBe(201);
    expect((await subjectsOf(who)).slice(2)).toEqual(['New recovery codes were created - idctl']);
  });

  test('a token with scope admin, and its new value, but no other token', async () => {
    const who = await arrived(idctl);
    await withTotp(who);
    await idctl.deliver();
    const made = await who.client.post('/api/v1/me/tokens', { name: 'deploy', scope: 'admin' });
    expect(made.status).toBe(201);
    const plain = await who.client.post('/api/v1/me/tokens', { name: 'plain' });
    await idctl.deliver();
    for (const { body } of [made, plain]) {
      const again = await who.client.post(`/api/v1/me/tokens/${body.id}/regenerate`);
      expect(again.status).toBe(200);
    }
    const [, created, regenerated, ...more] = await lettersOf(who);
    expect(more).toEqual([]);
    expect(created?.subject).toBe('A token with scope admin was created - idctl');
    expect(created?.text).toContain('The token "deploy" of your account at idctl was created.');
    expect(regenerated?.subject).toBe('A token with scope admin was regenerated - idctl');
    expect(regenerated?.text).toContain(fromHere);
  });

  test('a social account that is connected to an existing account, but not the one that creates it', async () => {
    const who = await arrived(idctl);
    const sub = fresh('sub');
    const atGoogle = { email: `${sub}@example.test`, email_verified: true, name: 'Ada' };
    social.google.people.set(sub, atGoogle);
    const { body } = await who.client.post('/api/v1/me/social/google', { returnTo: '/' });
    const callback = await social.google.signIn(body.authorizationUrl, sub);
    expect((await comeBack(who.client, callback)).status).toBe(200);
    const { text } = await onlyLetter(who, 'A Google account was connected');
    expect(text).toContain(fromHere);
    const { answer } = await withGoogle(social, sub);
    expect(answer.status).toBe(200);
    expect((await lettersOf(who)).at(-1)?.text).toContain('Method: Google\n');
    const newcomer = fresh('sub');
    const address = `${newcomer}@example.test`;
    social.google.people.set(newcomer, { email: address, email_verified: true, name: 'Grace' });
    expect((await withGoogle(social, newcomer)).answer.status).toBe(200);
    expect(await idctl.lettersTo(address)).toEqual([]);
  });
});

describe('a change that the operator makes is told by mail, without an address or a program', () => {
  const byAdmin = /By: an administrator\n(?!From)/;

  test('a password that the operator has set', async () => {
    const who = await arrived(idctl);
    await setUserPassword(idctl.operator(), { user: who.email, password: newPassword });
    const { text } = await onlyLetter(who, 'Your password was changed');
    expect(text).toMatch(byAdmin);
    expect(text).toContain('If you did not expect this, ask your administrator.');
    expect(text).not.toContain('127.0.0.1');
  });

  test('a reset of the second factor, in one mail however many passkeys it removes', async () => {
    const who = await arrived(idctl);
    for (const name of ['Laptop', 'Phone']) await addPasskey(who.client, {}, { name });
    const before = (await subjectsOf(who)).length;
    await resetTotp(idctl.operator(), { user: who.email, passkeys: true });
    const [reset, ...more] = (await lettersOf(who)).slice(before);
    expect(more).toEqual([]);
    expect(reset?.subject).toBe('Your second factor was reset - idctl');
    expect(reset?.text).toMatch(byAdmin);
  });

  test('O14 a reset by an owner, in one mail that names the organization and not the owner', async () => {
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const who = await arrived(idctl, `${fresh('ada')}@${domain}`);
    await addMember(idctl.operator(), { org: org.slug, email: who.email, role: 'member' });
    await addPasskey(who.client);
    const before = (await subjectsOf(who)).length;
    const owner = await signedIn(idctl, org.owner.email);
    const path = `/api/v1/orgs/${org.slug}/members/${who.id}/second-factor/reset`;
    expect(await owner.post(path)).toMatchObject({ status: 200, body: { told: true } });
    const [reset, ...more] = (await lettersOf(who)).slice(before);
    expect([reset?.subject, more]).toEqual(['Your second factor was reset - idctl', []]);
    expect(reset?.text).toContain(`By: an administrator of ${org.name}\n`);
    for (const text of [org.owner.email ?? '', org.owner.name, '127.0.0.1'])
      expect(reset?.text).not.toContain(text);
  });

  test('a reset by an organization names it, without making a link of its name', async () => {
    const who = await arrived(idctl);
    const account = await Account.findByPk(who.id, { rejectOnEmpty: true });
    await transaction(() =>
      notify(idctl.operator(), account, { what: 'second-factor-reset', by: 'evil.test/now' }),
    );
    const { text } = await onlyLetter(who, 'Your second factor was reset');
    expect(text).toContain('By: an administrator of evil test now\n');
  });
});

test('P18 the old address of an account learns of a new one even if notices are off and it was never proved', async () => {
  const { id, email } = await arrived(idctl);
  const ctx = idctl.operator();
  const { config } = ctx;
  const off = { ...ctx, config: { ...config, mail: { ...config.mail, notices: 'off' as const } } };
  const renewed = { id, email: `new-${email}`, emailProof: 'mail' as const };
  await transaction(async () => {
    const old = { id, email, emailProof: 'auto' as const };
    await notify(off, old, { what: 'address-changed', address: 'old' });
    await notify(off, renewed, { what: 'address-changed', address: 'new' });
  });
  const [letter] = await idctl.lettersTo(email);
  expect(letter?.subject).toBe('Your e-mail address was changed - idctl');
  expect(await idctl.lettersTo(renewed.email)).toEqual([]);
});

describe('a notice is queued with its change', () => {
  test('a change that is rolled back queues nothing', async () => {
    const who = await arrived(idctl);
    await withTotp(who);
    await idctl.deliver();
    await idctl.app.rehearse(() =>
      resetTotp(idctl.operator(), { user: who.email, passkeys: false }),
    );
    const wrong = { currentPassword: 'not the password', newPassword };
    expect((await who.client.post('/api/v1/me/password', wrong)).status).toBe(400);
    expect(await OutboxItem.count()).toBe(0);
  });

  test('an address that was never proved gets none, because it may belong to a stranger', async () => {
    const who = await arrived(idctl);
    for (const emailProof of ['auto', 'none'] as const) {
      await transaction(() => Account.update({ emailProof }, { where: { id: who.id } }));
      await setUserPassword(idctl.operator(), { user: who.email, password: newPassword });
    }
    expect(await OutboxItem.count()).toBe(0);
    expect(await lettersOf(who)).toEqual([]);
  });

  test('a notice of a passkey that an earlier release queued is still sent', async () => {
    const who = await arrived(idctl);
    for (const change of ['added', 'removed']) {
      const payload = { about: 'passkey', email: who.email, change, name: 'Phone' };
      const at = idctl.app.clock();
      const row = { id: orderedId(), kind: 'mail' as const, payload, createdAt: at, nextAt: at };
      await transaction(() => OutboxItem.create(row));
    }
    expect((await subjectsOf(who)).toSorted()).toEqual([
      'A passkey was added - idctl',
      'A passkey was removed - idctl',
    ]);
  });
});
