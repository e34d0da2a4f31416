import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/errors.ts';
import { html } from '../../src/http/pages/html.ts';
import { page } from '../../src/http/pages/page.ts';
import { type Access, routeTo } from '../../src/http/route.ts';
import { openDoor } from '../support/door.ts';

// This door has no services behind it, so not even the sign-in page can be shown.

const failing = (path: string, error: () => Error) =>
  page({
    path,
    access: 'public',
    input: z.object({}),
    show: () => {
      throw error();
    },
  });
const away = (path: string, access: Access, error: () => Error) =>
  routeTo(access, 'GET', path, {
    summary: 'Test',
    input: z.strictObject({}),
    output: z.object({}),
    redirect: { to: () => '/' },
    run: () => {
      throw error();
    },
  });
const busy = () =>
  new Refusal('database_busy', 'The database is <busy>.', { hint: 'Try again.', retryAfter: 3 });
const full = () =>
  new Refusal('database_full', 'There is no space.', { hint: { technical: 'Free <space>.' } });
const unreachable = () => new Refusal('provider_failed', 'The provider could not be used.');
const bug = () => new TypeError('canary of the inside');

const open = () =>
  openDoor([away('/auth/busy', 'public', busy), away('/auth/upstream', 'public', unreachable)], {
    pages: [
      failing('/login/busy', busy),
      failing('/login/full', full),
      failing('/login/bug', bug),
      page({
        path: '/login/fine',
        access: 'public',
        input: z.object({}),
        show: () => ({ title: 'T', main: html`<p>x</p>` }),
      }),
    ],
  });
const asBrowser = { accept: 'text/html' };

test.each([
  ['/login/busy', 503, 'The database is &lt;busy&gt;.'],
  ['/auth/busy', 503, 'The database is &lt;busy&gt;.'],
  ['/auth/upstream', 502, 'The provider could not be used.'],
])(
  'X10 a browser gets the refusal of %s as a page, even if nothing else works',
  async (path, status, said) => {
    const answer = await (await open()).get(path, asBrowser);
    expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([
      status,
      'text/html; charset=utf-8',
      expect.stringContaining(said),
    ]);
    expect(answer.headers['content-security-policy']).toContain("style-src 'self'");
    if (status === 503) expect(answer.headers['retry-after']).toBe('3');
  },
);

test('X10 if only the operator can help, the page says to try again later', async () => {
  const { body } = await (await open()).get('/login/full', asBrowser);
  expect(body).toContain('Try again in a few minutes.');
  expect(body).not.toContain('Free');
});

test('X10 a browser gets a page for a bug too, with only its reference', async () => {
  const door = await open();
  const answer = await door.get('/login/bug', asBrowser);
  expect([answer.status, answer.headers['content-type']]).toEqual([
    500,
    'text/html; charset=utf-8',
  ]);
  expect(answer.body).not.toMatch(/canary|TypeError|pages-failures/);
  expect(answer.body).toContain(String(answer.headers['x-request-id']));
  await expect.poll(() => door.log.map(({ msg }) => msg)).toContain('bug');
});

test('X10 clients other than browsers get a refusal as a problem object', async () => {
  const answer = await (await open()).get('/auth/upstream');
  expect([answer.status, answer.body.code]).toEqual([502, 'provider_failed']);
});
