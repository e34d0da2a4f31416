import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { beginSession } from '../../src/services/signin/begin.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { type Installation, install } from '../support/installation.ts';

// These tests check security X9 at the operator's terminal. The rows contain hostile names, as if a
// stranger had stored them.

const hostile = 'Eve\u001b]0;owned\u0007\u001b[2J\u009b1A\r\u202egpj.exe\u2066\u200f\u2028';
const email = 'olga@acme.test';

let site: Installation;
beforeAll(async () => {
  site = await install({
    prepare: async (operator) => {
      const connection = {
        org: 'acme',
        emailDomain: 'acme.test',
        issuer: 'https://id.acme.test',
        clientId: 'c',
      };
      await saveSso(operator(), saveSsoInput.parse({ ...connection, clientSecret: 's' }));
      await transaction(async () => {
        const olga = await Account.findOne({ where: { email }, rejectOnEmpty: true });
        await beginSession(operator(), olga, { method: 'password' });
        await Session.update({ userAgent: hostile }, { where: {} });
        await Event.update(
          { subject: { type: 'user', id: olga.id, name: hostile } },
          { where: {} },
        );
        await olga.update({ name: hostile });
        await Organization.update({ name: hostile }, { where: {} });
        await SsoConnection.update(
          { issuer: `https://id.acme.test/${hostile}`, clientId: hostile },
          { where: {} },
        );
      });
    },
  });
}, 120_000);
afterAll(() => site.close());

describe('X9 names of strangers', () => {
  test.each([
    ['user list'],
    [`user show ${email}`],
    ['org list'],
    ['member list --org acme'],
    [`session list --user ${email}`],
    ['sso show --org acme'],
    ['sso remove --org acme --dry-run'],
    ['sso remove --org acme'],
    [`user disable ${email} --yes`],
    ['event list --org acme'],
  ])(
    'X9 `idctl %s` spells out characters that move the cursor or reverse text, as text and as JSON',
    async (line) => {
      const [plain, json] = await Promise.all(
        [line, `${line} --json`].map((typed) => site.run(typed.split(' '))),
      );
      const shown = [plain, json].flatMap((said) => [said?.out ?? '', said?.err ?? '']).join('');
      expect(shown).toContain('Eve\\u001b]0;owned');
      expect(unseen(shown)).toEqual([]);
    },
    60_000,
  );

  test('X9 the message about a change spells out hostile characters too', async () => {
    const { err } = await site.run(['sso', 'remove', '--org', 'acme', '--yes']);
    expect(err).toContain('Removed the connection to https://id.acme.test/Eve\\u001b]0;owned');
    expect(unseen(err)).toEqual([]);
  });
});

/** The characters that could move the cursor or reverse text. */
function unseen(text: string): string[] {
  return [...text].filter(
    (sign) => sign !== '\n' && /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(sign),
  );
}
