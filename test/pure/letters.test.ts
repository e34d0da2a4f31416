import { describe, expect, test } from 'vitest';
import {
  accountLetter,
  askedForLetter,
  codeLetter,
  deletedLetter,
  invitationLetter,
  oldAddressLetter,
  renderLetter,
} from '../../src/services/instance/mail/letters.ts';

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
    ['a changed address', oldAddressLetter(from), 'https://id.acme.test/'],
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
