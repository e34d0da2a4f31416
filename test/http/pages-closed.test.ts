import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createInvitation,
  revokeInvitation,
} from '../../src/services/tenancy/invitations/operations.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { fresh, organization, password, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';

// Tests unknown pages, and the pages of an instance without mail and without open sign-up.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ http: { returnToOrigins: ['https://app.example.test'] } });
  await organization(idctl);
});
afterAll(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });
const at = (path: string, query: Record<string, string> = {}) =>
  open(browser(), `${path}?${new URLSearchParams(query)}`);

describe('pages for unknown paths', () => {
  const typed = [
    '/logon',
    '/login/',
    '/accounts/me',
    '/%E0%A4%A0',
    '/logon/<script>alert(1)</script>',
    '/api-v1',
  ];

  test.each(typed)(
    'X10 for %s, a browser gets a page and other clients a problem object',
    async (path) => {
      const page = await browser().get(path, {
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      });
      expect([page.status, page.headers['content-type'], page.headers['vary']]).toEqual([
        404,
        'text/html; charset=utf-8',
        'Accept',
      ]);
      expect(page.headers).toMatchObject({
        'content-security-policy': expect.stringContaining(
          "style-src 'self'; img-src 'self' data:",
        ),
        'cache-control': 'no-store',
      });
      expect(page.body).toContain('Page not found');
      expect(page.body).not.toMatch(/logon|script|style=/);
      const problem = await browser().get(path, { accept: '*/*' });
      expect([problem.status, problem.body.code, problem.headers['vary']]).toEqual([
        404,
        'route_not_found',
        'Accept',
      ]);
    },
  );

  test('X10 for an undecodable path or a wrong method, a browser gets a page too', async () => {
    for (const [method, path, status] of [
      ['GET', '/login/%', 400],
      ['POST', '/login', 405],
    ] as const) {
      const asked = (accept: string) => browser().send(method, path, { headers: { accept } });
      const page = await asked('text/html');
      expect([page.status, page.headers['content-type'], page.headers['vary']]).toEqual([
        status,
        'text/html; charset=utf-8',
        'Accept',
      ]);
      expect((await asked('*/*')).headers['content-type']).toMatch(/^application\/problem\+json/);
    }
  });

  test.each([
    '/api/v1/nothing',
    '/api/v2',
    '/auth/nothing',
    '/.well-known/nothing',
    '/healthz/nothing',
  ])(
    'X10 %s is for programs: the answer is a problem object, whatever the client accepts',
    async (path) => {
      const { status, headers } = await browser().get(path, { accept: 'text/html' });
      expect([status, headers['content-type']]).toEqual([
        404,
        expect.stringMatching(/^application\/(problem|scim)\+json/),
      ]);
    },
  );
});

describe('pages whose form would be refused', () => {
  const noForm = ({ body }: Opened) => !String(body).includes('method="post"');

  test.each<[string, Record<string, string>]>([
    ['/login/reset', {}],
    ['/login/reset', { identifier: 'ada@example.test' }],
    ['/login/reset', { identifier: 'ada@example.test', done: 'confirmed' }],
    ['/login/reset/confirm', { identifier: 'ada@example.test' }],
    ['/login/mail-code', { identifier: 'ada@example.test' }],
    ['/login/verify', { identifier: 'ada@example.test' }],
  ])(
    '§4.4 %s %j says at once that no mail is sent, and offers another way to sign in',
    async (path, query) => {
      const page = await at(path, query);
      expect([page.status, noForm(page), page.text]).toEqual([
        409,
        true,
        expect.stringMatching(/This instance does not send mail/),
      ]);
      expect(page.text.toLowerCase()).toContain('sign in another way');
      expect(page.body).toContain('name="identifier"');
    },
  );

  const signUp = (query: Record<string, string> = {}) => at('/login/signup', query);
  const closed = (page: Opened, said: string) =>
    expect([page.status, noForm(page), page.text]).toEqual([
      403,
      true,
      expect.stringContaining(said),
    ]);
  const isOpen = (page: Opened) =>
    expect([page.status, page.body]).toEqual([
      200,
      expect.stringContaining('action="/login/signup"'),
    ]);

  test('O2 the sign-up page says whether sign-up is closed to some addresses, to this address or to its domain', async () => {
    closed(await signUp(), 'Sign-up is not open to everyone here. Enter your address');
    closed(await signUp({ identifier: 'no address' }), 'Sign-up is not open to everyone here.');
    closed(await signUp({ identifier: 'ada@example.test' }), 'Sign-up is closed here.');
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const who = { identifier: `ada@${domain}` };
    closed(await signUp(who), `Addresses on ${domain} belong to an organization.`);
    await changeSignInSettings(idctl.operator(), { org: org.slug, allowSelfSignup: true });
    isOpen(await signUp(who));
    closed(await signUp(), 'Sign-up is not open to everyone here.');
  });

  test('O6 an invitation opens sign-up for its address until it is revoked', async () => {
    const org = await organization(idctl);
    const email = `${fresh('guest')}@example.test`;
    const { id, token: invitation } = await createInvitation(idctl.operator(), {
      org: org.slug,
      email,
      role: 'member',
    });
    isOpen(await signUp({ invitation }));
    closed(
      await signUp({ invitation, identifier: 'other@example.test' }),
      'Sign-up is closed here.',
    );
    const page = await signUp({ invitation, identifier: email });
    isOpen(page);
    await revokeInvitation(idctl.operator(), { org: org.slug, id });
    const over = await signUp({ invitation });
    expect([over.status, noForm(over), over.text]).toEqual([
      404,
      true,
      expect.stringContaining('This invitation is invalid'),
    ]);
    const refused = await page.submit('/login/signup', { email, name: 'Guest', password });
    expect(refused.status).toBe(403);
  });
});
