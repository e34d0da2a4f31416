import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';

// These tests cover the requirements of OWASP ASVS 5.0 on passwords that no other test covers
// (docs/evidence/asvs.md).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ signup: { open: 'on' }, limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const trySignIn = async (email: string | null, given: string) =>
  (await idctl.client().post('/api/v1/auth/login', { email, password: given })).status;

test('ASVS 6.2.8 a password is compared exactly as typed: letter case, spaces, Unicode form, all 128 characters', async () => {
  const { email } = await person(idctl);
  const chosen = ` Ünïcode ${'xY 7'.repeat(30)}`.slice(0, 127).concat('!');
  expect([...chosen]).toHaveLength(128);
  await setUserPassword(idctl.operator(), { user: email ?? '', password: chosen });
  const others = [
    chosen.toLowerCase(),
    chosen.trim(),
    chosen.normalize('NFD'),
    `${chosen.slice(0, -1)}?`,
    chosen.slice(0, -1),
  ];
  for (const other of others) expect([other, await trySignIn(email, other)]).not.toContain(200);
  expect(await trySignIn(email, chosen)).toBe(200);
});

test('ASVS 6.2.10 a password does not expire: it still signs in after three years', async () => {
  const { email } = await person(idctl);
  idctl.wait(3 * 365 * 24 * 3600);
  expect(await trySignIn(email, password)).toBe(200);
});

test('ASVS 6.2.6 6.2.7 every password field masks its text and tells password managers its kind, and no script blocks pasting', async () => {
  const { email } = await person(idctl);
  const pages = [
    await open(idctl.client({ keepCookies: true }), `/login?identifier=${email}`),
    await open(idctl.client({ keepCookies: true }), '/login/signup'),
    await open(await signedIn(idctl, email), '/'),
  ];
  for (const { body } of pages) {
    const fields = String(body).match(/<input [^>]*name="\w*password"[^>]*>/gi) ?? [];
    expect(fields).not.toEqual([]);
    for (const field of fields) {
      expect(field).toContain('type="password"');
      expect(field).toMatch(/autocomplete="(current|new)-password"/);
    }
    expect(body).not.toMatch(/<script|\son\w+=/i);
  }
});
