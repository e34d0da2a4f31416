import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { password } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { arrived, browserAt, lettersOf, withTotp } from '../support/notices.ts';
import { addPasskey, passkeySite } from '../support/passkeys.ts';

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ baseUrl: passkeySite, limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const newPassword = 'a staple of another kind';

describe('security I3: the browsers of an earlier holder', () => {
  test('I3 a takeover forgets them, so that a later sign-in from there is told', async () => {
    const earlier = await arrived(idctl);
    const { email, id } = earlier;
    await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id } }));
    const mine = browserAt(idctl, 'curl/8.14.1');
    await mine.post('/api/v1/auth/password/reset', { email });
    const given = { email, code: await idctl.codeFor(email), newPassword };
    expect((await mine.post('/api/v1/auth/password/reset/confirm', given)).status).toBe(204);
    // Letters that are sent together arrive in any order.
    await idctl.deliver();
    const signIn = { email, password: newPassword };
    for (const client of [mine, earlier.client])
      expect((await client.post('/api/v1/auth/login', signIn)).status).toBe(200);
    // The new holder's browser is the account's first one.
    const [, changed, told, ...more] = await lettersOf(earlier);
    expect([changed?.subject, told?.subject, more]).toEqual([
      'Your password was changed - idctl',
      'Sign-in from a new browser - idctl',
      [],
    ]);
    expect(told?.text).toContain('With: Firefox on Linux');
  });
});

describe('security X4: the notices', () => {
  test('X4 no notice, and no row of the outbox, contains a secret, a code, a token or a cookie', async () => {
    const who = await arrived(idctl);
    const { secret, recoveryCodes } = await withTotp(who);
    const [recoveryCode] = recoveryCodes;
    const elsewhere = browserAt(idctl);
    const given = { email: who.email, password, recoveryCode };
    const { body } = await elsewhere.post('/api/v1/auth/login', given);
    const { codes } = (await elsewhere.post('/api/v1/me/recovery-codes')).body;
    const made = await elsewhere.post('/api/v1/me/tokens', { name: 'deploy', scope: 'admin' });
    await addPasskey(elsewhere);
    const change = { currentPassword: password, newPassword };
    expect((await elsewhere.post('/api/v1/me/password', change)).status).toBe(204);
    const secrets = [
      ...[secret, ...recoveryCodes, ...codes, made.body.token, password, newPassword],
      ...[body.accessToken, body.refreshToken, ...who.client.jar.values()],
      ...elsewhere.jar.values(),
    ];
    expect(secrets.every((each) => typeof each === 'string' && each.length > 8)).toBe(true);
    const rows = JSON.stringify(await select('SELECT * FROM outbox', []));
    const letters = await lettersOf(who);
    expect(letters.length).toBeGreaterThanOrEqual(7);
    const all = letters.map(({ text, html, raw }) => `${text} ${html} ${raw}`).join(' ') + rows;
    expect(secrets.filter((each) => all.includes(each))).toEqual([]);
    expect(letters.filter(({ text }) => /\b\d{6}\b/.test(text))).toEqual([]);
  });
});
