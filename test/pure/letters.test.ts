import { describe, expect, test } from 'vitest';
import type { Notice } from '../../src/services/foundation/mail/notice.ts';
import {
  accountLetter,
  askedForLetter,
  codeLetter,
  deletedLetter,
  invitationLetter,
  renderLetter,
} from '../../src/services/instance/mail/letters.ts';
import { noticeLetter } from '../../src/services/instance/mail/notices.ts';

const from = { service: 'Acme <b>&"co"', baseUrl: 'https://id.acme.test' };
const invited = {
  organization: "O'Neil <i>",
  inviter: 'Ada <i>',
  role: 'admin',
  url: 'https://id.acme.test/login?a=1&b=2',
};

describe('a mail', () => {
  test.each([
    ['a code', codeLetter(from, 'signin', '012345'), '012345'],
    ['an existing account', accountLetter(from), 'https://id.acme.test/login'],
    ['an address asked for', askedForLetter(from), 'https://id.acme.test/login'],
    ['a deleted account', deletedLetter(from), 'was deleted'],
    ['an invitation', invitationLetter(from, invited), invited.url],
  ])(
    'about %s says the same in text and in HTML, with everything escaped and nothing loaded',
    (_, letter, key) => {
      const { text, html } = renderLetter(from, letter);
      expect(text).toContain(key);
      expect(html).toContain(key.replaceAll('&', '&amp;'));
      for (const line of [letter.opening, ...letter.closing]) expect(text).toContain(line);
      expect(html).not.toMatch(/<b>|<i>|&"co/);
      expect(html).not.toMatch(/<(img|script|link|style)|src=|url\(/);
    },
  );

  test('O6 X9 an invitation names the inviter, shortened and escaped like the organization, but not the operator', () => {
    const told = (inviter: string | null) => invitationLetter(from, { ...invited, inviter });
    expect(told('Ada Byron').opening).toBe(
      `Ada Byron invites you to join O'Neil <i> on ${from.service} as an admin.`,
    );
    const { subject, opening } = told(`Win at https://evil.test/now ${'x'.repeat(200)}`);
    expect(subject).toBe(`You are invited - ${from.service}`);
    expect(opening).toMatch(/^Win at https evil test now x{23}… invites you to join/);
    expect(told(null).opening).toMatch(/^You are invited to join/);
  });

  test('O6 P9 the name of the inviting organization is shortened, does not contain a link, and is not in the subject', () => {
    const told = (organization: string) => invitationLetter(from, { ...invited, organization });
    const { subject, opening } = told('Win at https://evil.test/now or mail win@evil.test');
    expect(subject).toBe(`You are invited - ${from.service}`);
    expect(opening).toContain('to join Win at https evil test now or mail win evil test on');
    expect(told('Acme Inc. & Sons').opening).toContain('to join Acme Inc. & Sons on');
    expect(told('x'.repeat(200)).opening).toContain(`to join ${'x'.repeat(50)}… on`);
  });
});

const evil = 'Win at https://evil.test/now <b>';

/** One notice of each kind, with the names that a stranger can choose. */
const notices: { [What in Notice['what']]: Extract<Notice, { what: What }> } = {
  'password-changed': { what: 'password-changed' },
  'authenticator-added': { what: 'authenticator-added', withCodes: true },
  'authenticator-removed': { what: 'authenticator-removed', codesEnded: true },
  'passkey-added': { what: 'passkey-added', name: evil, withCodes: false },
  'passkey-removed': { what: 'passkey-removed', name: evil },
  'second-factor-reset': { what: 'second-factor-reset', by: evil },
  'recovery-code-used': { what: 'recovery-code-used', remaining: 0 },
  'recovery-codes-made': { what: 'recovery-codes-made' },
  'address-changed': { what: 'address-changed', address: 'old' },
  'social-linked': { what: 'social-linked', provider: 'Google' },
  'admin-token-made': { what: 'admin-token-made', name: evil, regenerated: false },
  'setup-finished': { what: 'setup-finished', organization: evil, by: 'it@vendor.test' },
  'new-browser': { what: 'new-browser', method: 'password' },
};

describe('a notice', () => {
  const at = new Date('2026-11-20T14:03:59Z');
  const client = { address: '203.0.113.7', userAgent: 'evil.test/1.0 <b>' };
  const of = (notice: Notice, from: typeof client | null = client) =>
    renderLetter(sender, noticeLetter(sender, { notice, from }, at));
  const sender = { service: 'Acme ID', baseUrl: 'https://id.acme.test' };

  test.each(Object.values(notices))(
    'P9 X4 of $what says when, from where and with what, and links to the base URL only, whatever the names are',
    (notice) => {
      const { subject, text, html } = of(notice);
      expect(subject).toMatch(/^[A-Z].* - Acme ID$/);
      expect(text).toContain(
        'When: 20 November 2026 at 14:03 UTC\nFrom: 203.0.113.7\nWith: evil test\n',
      );
      expect(html.replace(/<[^>]*>/g, ' ')).toMatch(
        /When\s+20 November 2026 at 14:03 UTC\s+From\s+203/,
      );
      const links = `${text} ${html}`.match(/[a-z]+:\/\/[^\s"<]+|evil\.test/g) ?? [];
      expect([...new Set(links)].toSorted()).toEqual([sender.baseUrl, `${sender.baseUrl}/`]);
      expect(html).not.toContain('<b>');
    },
  );

  test('of an administrator does not say from where, and names the organization that reset a second factor', () => {
    const { text } = of(notices['second-factor-reset'], null);
    expect(text).toContain('By: an administrator of Win at https evil test now <b>\n');
    expect(text).not.toContain('203.0.113.7');
    expect(of(notices['password-changed'], null).text).toContain('By: an administrator\n');
  });
});
