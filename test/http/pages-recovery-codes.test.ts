import { afterAll, beforeAll, expect, test } from 'vitest';
import { password, person } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type Opened, open } from '../support/pages.ts';
import { codeOf } from '../support/two-factor.ts';

// Security P17 in the browser.

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ signin: { magicCode: 'on' } });
});
afterAll(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });
const at = (path: string, email: string) =>
  open(browser(), `${path}?identifier=${encodeURIComponent(email)}`);
const isIn = (page: Opened) => page.body.email !== undefined || page.text.includes('Sign out');

/** The account page of a new person who has signed in with a password. */
async function arrived() {
  const email = (await person(idctl)).email ?? '';
  const client = browser();
  await (await open(client, `/login?identifier=${encodeURIComponent(email)}`)).submit(
    '/login/password',
    { password },
  );
  return { email, client, page: await open(client, '/') };
}

const codesIn = ({ body }: Opened): string[] =>
  (/<pre class="secret">([^<]*)<\/pre>/.exec(body)?.[1] ?? '').trim().split('\n');

/** Sets an authenticator up in the browser; the page shows the codes. */
async function enrolled() {
  const { email, client, page } = await arrived();
  const asked = await page.submit('/account/two-factor');
  const secret = (/class="secret">([A-Z2-7 ]+)</.exec(asked.body)?.[1] ?? '').replaceAll(' ', '');
  const sent = { code: codeOf(idctl, secret) };
  const shown = await asked.submit('/account/two-factor/confirm', sent);
  idctl.wait(60);
  return {
    email,
    client,
    asked,
    sent,
    shown,
    codes: codesIn(shown),
    code: () => codeOf(idctl, secret),
  };
}

const withPassword = async (email: string) =>
  (await at('/login', email)).submit('/login/password', { password });

test('P17 before the first second factor, the page says what follows; then it shows the codes once', async () => {
  const { client, asked, shown, codes } = await enrolled();
  expect(asked.text).toContain(
    'Once you turn it on, your password alone is not enough to sign in.',
  );
  expect(codes).toHaveLength(10);
  expect(shown.text).toContain('Two-factor authentication is on.');
  const [, href = ''] = /download="idctl-recovery-codes.txt" href="([^"]+)"/.exec(shown.body) ?? [];
  const file = decodeURIComponent(href.replace('data:text/plain;charset=utf-8,', ''));
  for (const code of codes) expect(file).toContain(code);
  expect(shown.body).toMatch(/<input type="checkbox" required> I have stored them/);
  const { text, body } = await open(client, '/');
  expect(text).toContain('10 codes are left, created 1 minute ago.');
  for (const code of codes) expect(body).not.toContain(code);
});

test('P17 a reload of the page with the codes does not create others, and says that they were shown', async () => {
  const { client, asked, codes, sent } = await enrolled();
  const reloaded = async (send: () => Promise<Opened>) => {
    const { text, status } = await send();
    expect(status).toBe(409);
    expect(text).toContain('This form was already sent, so nothing new was created.');
    expect(text).toContain('10 codes are left');
    expect(text).toContain('Create new recovery codes');
    expect(text).not.toContain('Enter the next code');
  };
  await reloaded(() => asked.submit('/account/two-factor/confirm', sent));
  const page = await open(client, '/');
  const renewed = codesIn(await page.submit('/account/recovery-codes'));
  expect(renewed).not.toEqual(codes);
  await reloaded(() => page.submit('/account/recovery-codes'));
});

test('P17 an authenticator that another tab turned on is not to be confirmed again', async () => {
  const { asked } = await enrolled();
  const late = await asked.submit('/account/two-factor/confirm', { code: '000000' });
  expect(late.text).toContain('An authenticator app is already enabled.');
  expect(late.text).not.toContain('Enter the next code');
});

test('P17 a code signs in on the page that asks for the second factor', async () => {
  const { email, codes } = await enrolled();
  const asked = await withPassword(email);
  expect(asked.text).toContain('Use a recovery code');
  const wrong = await asked.submit('/login/code', { recoveryCode: '00000-00000' });
  expect([wrong.status, wrong.body.includes('<details class="recovery" open>')]).toEqual([
    401,
    true,
  ]);
  expect(wrong.body).not.toContain('00000-00000');
  expect(isIn(await wrong.submit('/login/code', { recoveryCode: codes[0] ?? '' }))).toBe(true);
});

test('P17 after a sign-in with a code, the account page says what to do, until a factor or codes are new', async () => {
  const { email, client, codes, code } = await enrolled();
  const told = async (by = client) => {
    const { text } = await open(by, '/');
    return /You used a recovery code\. .*? to replace the used ones\./.exec(text)?.[0];
  };
  expect(await told()).toBeUndefined();
  const arrivedWith = async (given: Record<string, string>) => {
    const asked = await withPassword(email);
    expect(isIn(await asked.submit('/login/code', given))).toBe(true);
  };
  await arrivedWith({ totpCode: code() });
  expect(await told()).toBeUndefined();
  await arrivedWith({ recoveryCode: codes[0] ?? '' });
  expect(await told()).toBe(
    'You used a recovery code. 9 codes are left. If you lost the phone with your authenticator app, turn the app off with a recovery code, and set it up on your new phone. If you lost nothing, create new codes to replace the used ones.',
  );
  const page = await open(client, '/');
  const off = await page.submit('/account/two-factor/disable', { recoveryCode: codes[1] ?? '' });
  expect(off.text).not.toContain('You used a recovery code');
  const asked = await off.submit('/account/two-factor');
  const secret = (/class="secret">([A-Z2-7 ]+)</.exec(asked.body)?.[1] ?? '').replaceAll(' ', '');
  const again = codesIn(
    await asked.submit('/account/two-factor/confirm', { code: codeOf(idctl, secret) }),
  );
  expect(await told()).toBeUndefined();
  idctl.wait(60);
  for (const recoveryCode of again) await arrivedWith({ recoveryCode });
  expect(await told()).toContain(
    '0 codes are left. If you lost the phone with your authenticator app, first create new codes . Then turn the app off',
  );
  expect(codesIn(await (await open(client, '/')).submit('/account/recovery-codes'))).toHaveLength(
    10,
  );
  expect(await told()).toBeUndefined();
});

test('P17 a code typed into the field for the six digits is accepted, and a wrong one counts as before', async () => {
  const { email, client, codes } = await enrolled();
  const [first = '', second = '', third = ''] = codes;
  const asked = await withPassword(email);
  const wrong = await asked.submit('/login/code', { totpCode: '00000-00000' });
  expect(wrong.text).toContain('Check the code, or enter another recovery code.');
  expect(isIn(await wrong.submit('/login/code', { totpCode: ` ${first.toUpperCase()} ` }))).toBe(
    true,
  );
  const again = await withPassword(email);
  expect((await again.submit('/login/code', { totpCode: first })).status).toBe(401);
  const sent = await (await at('/login', email)).submit('/login/mail-code');
  const more = await sent.submit('/login/mail-code/enter', { code: await idctl.codeFor(email) });
  expect(isIn(await more.submit('/login/mail-code/enter', { totpCode: second }))).toBe(true);
  for (let turn = 0; turn < 5; turn += 1)
    await again.submit('/login/code', { totpCode: '00000-00000' });
  expect((await again.submit('/login/code', { totpCode: third })).status).toBe(429);
  idctl.wait(16 * 60);
  const malformed = await (await open(client, '/')).submit('/account/two-factor/disable', {
    code: '12345',
  });
  expect(malformed.text).toContain('must be the six digits that the authenticator shows');
  const off = await malformed.submit('/account/two-factor/disable', {
    code: third.replace('-', ' '),
  });
  expect(off.text).toContain('Two-factor authentication is off.');
});

test('P17 a code is accepted beside a mailed code, to sign in and for a new password', async () => {
  const { email, codes } = await enrolled();
  const [first = '', second = ''] = codes;
  const sent = await (await at('/login', email)).submit('/login/mail-code');
  const asked = await sent.submit('/login/mail-code/enter', { code: await idctl.codeFor(email) });
  expect(asked.text).toContain('Use a recovery code');
  expect(asked.text).not.toContain('(optional)');
  expect(asked.body).not.toMatch(/name="(totpCode|recoveryCode)"[^>]* required/);
  expect(asked.text).toContain('ask an owner of your organization or the administrator');
  expect(isIn(await asked.submit('/login/mail-code/enter', { recoveryCode: first }))).toBe(true);
  const reset = await (await at('/login/reset', email)).submit('/login/reset', { email });
  const given = { code: await idctl.codeFor(email), newPassword: 'a staple of another kind' };
  const more = await reset.submit('/login/reset/confirm', given);
  const { newPassword } = given;
  const done = await more.submit('/login/reset/confirm', { newPassword, recoveryCode: second });
  expect(done.text).toContain('Your password was changed.');
});

test('P17 on the account page, a code confirms the session, new codes replace the old, and a code turns the app off', async () => {
  const { email, client, codes } = await enrolled();
  idctl.wait(11 * 60);
  const page = await open(client, '/');
  const refused = await page.submit('/account/recovery-codes');
  expect(refused.text).toContain('Before you create new recovery codes, confirm that it is you.');
  const turnOff = page.body.split('Turn it off')[1]?.split('</form>')[0];
  expect(turnOff).toMatch(/app shows now, or use a recovery code below/);
  expect(turnOff).not.toMatch(/\(optional\)|name="(code|recoveryCode)"[^>]* required/);
  const section = 'recovery-codes';
  const shown = await refused.submit('/account/confirm', { section, recoveryCode: codes[0] ?? '' });
  const renewed = codesIn(shown);
  expect(renewed).toHaveLength(10);
  const old = await (await withPassword(email)).submit('/login/code', {
    recoveryCode: codes[1] ?? '',
  });
  expect(old.status).toBe(401);
  const off = await (await open(client, '/')).submit('/account/two-factor/disable', {
    recoveryCode: renewed[0] ?? '',
  });
  expect(off.text).toContain('Two-factor authentication is off.');
  expect(off.text).not.toContain('Recovery codes');
});
