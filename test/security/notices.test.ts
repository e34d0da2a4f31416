import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { password, person } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';

// Security X10: a notice confirms an action. Only the browser and account that acted may see it.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const notice = 'class="notice"';

async function arrived(
  email?: string,
): Promise<{ client: Client; email: string; account: Opened }> {
  const address = email ?? (await person(idctl)).email ?? '';
  const client = idctl.client({ keepCookies: true });
  const asked = await open(client, `/login?identifier=${address}`);
  return { client, email: address, account: await asked.submit('/login/password', { password }) };
}

/** Sends the form, and returns the path to which the answer redirects. */
async function sentTo(
  client: Client,
  account: Opened,
  action: string,
  fields: Record<string, string> = {},
) {
  const [, token = ''] = /name="token" value="([\w-]+)"/.exec(String(account.body)) ?? [];
  const answer = await client.form(action, { token, ...fields });
  expect(answer.status).toBe(303);
  return String(answer.headers['location']).split('#')[0] ?? '';
}

test.each([
  'profile',
  'password',
  'two-factor-on',
  'two-factor-off',
  'linked',
  'session',
  'token',
  'unlinked',
  'joined',
])('X10 a link to /?done=%s does not show a notice', async (done) => {
  const { client } = await arrived();
  expect((await open(client, `/?done=${done}`)).body).not.toContain(notice);
  expect((await open(client, `/?done=${done}.${'A'.repeat(22)}`)).body).not.toContain(notice);
});

test.each(['signed-out', 'new-password'])(
  'X10 a link to /login?done=%s does not show a notice',
  async (done) => {
    for (const client of [idctl.client(), idctl.client({ keepCookies: true })]) {
      await client.get('/login');
      expect((await client.get(`/login?done=${done}`)).body).not.toContain(notice);
      expect((await client.get(`/login?done=${done}.${'A'.repeat(22)}`)).body).not.toContain(
        notice,
      );
    }
  },
);

test('X10 a notice is shown only to the browser and account that caused it', async () => {
  const { client, account, email } = await arrived();
  const other = await arrived();
  const spare = await arrived(email);
  const to = await sentTo(client, account, '/account/profile', { name: 'Ada', locale: 'en' });
  expect((await open(client, to)).text).toContain('Your profile was saved.');
  for (const { client: foreign } of [other, spare]) {
    expect((await open(foreign, to)).body).not.toContain(notice);
  }
  const swapped = to.replace('done=profile', 'done=password');
  expect(swapped).not.toBe(to);
  expect((await open(client, swapped)).body).not.toContain(notice);
});

test('X10 a notice on the sign-in page is shown only to the browser that signed out', async () => {
  const { client, account } = await arrived();
  const to = await sentTo(client, account, '/account/sign-out');
  expect((await open(client, to)).text).toContain('You are signed out.');
  for (const foreign of [
    idctl.client(),
    (await arrived()).client,
    idctl.client({ keepCookies: true }),
  ]) {
    expect((await open(foreign, to)).body).not.toContain(notice);
  }
  const planted = idctl.client({ keepCookies: true });
  planted.jar.set('form', 'A'.repeat(22));
  expect((await open(planted, to)).body).not.toContain(notice);
});

test('X10 visitors who are not signed in add no rows to the database', async () => {
  const rows = async () =>
    JSON.stringify(
      await Promise.all(
        Object.values(Account.sequelize?.models ?? {}).map((model) => model.count()),
      ),
    );
  const before = await rows();
  for (let visit = 0; visit < 20; visit += 1)
    await idctl.client().get(`/login?done=signed-out.${visit}`);
  expect(await rows()).toBe(before);
});
