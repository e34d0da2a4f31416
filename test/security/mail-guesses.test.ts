import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { Refusal } from '../../src/errors.ts';
import { rememberClient } from '../../src/services/foundation/limits/password.ts';
import { signInByCode } from '../../src/services/signin/flow.ts';
import { fresh, password, person } from '../support/builders.ts';
import { type Answer, createClient } from '../support/http.ts';
import { install } from '../support/installation.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { startSmtp } from '../support/smtp.ts';

describe('codes by mail', () => {
  let idctl: MailingIdctl;
  beforeAll(async () => {
    const limits = { addressFailures: 100_000 };
    idctl = await openMailingIdctl({ signup: { open: 'on' }, signin: { magicCode: 'on' }, limits });
    // The minute of a limit must not end between two sums of counters.
    idctl.stopClock();
  });
  afterAll(() => idctl.close());

  const post = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);

  /** A new person who has requested a code to sign in, and the code. */
  async function asking() {
    const { id, email } = await person(idctl);
    await post('magic-code', { email });
    return { id, email: email ?? '', code: await idctl.codeFor(email ?? '') };
  }

  /** Makes one guess, from a client address of its own. */
  async function guess(email: string, code: string, at: number): Promise<string> {
    const address = `2001:db8:${(at >> 8).toString(16)}:${(at & 255).toString(16)}::1`;
    const ctx = { ...idctl.as({ kind: 'anonymous' }), client: { address, userAgent: null } };
    return signInByCode(ctx, { email, code }).then(
      () => 'in',
      (error: unknown) => (error instanceof Refusal ? error.code : Promise.reject(error)),
    );
  }

  async function guessAll(email: string, codes: string[]): Promise<Record<string, number>> {
    const said: string[] = [];
    for (let from = 0; from < codes.length; from += 50) {
      const some = codes.slice(from, from + 50).map((code, at) => guess(email, code, from + at));
      said.push(...(await Promise.all(some)));
    }
    const counted = [...Map.groupBy(said, (each) => each)].map(
      ([each, all]) => [each, all.length] as const,
    );
    return Object.fromEntries(counted);
  }

  const wrongCodes = (right: string, count: number) =>
    Array.from({ length: count + 1 }, (_, at) => at.toString().padStart(6, '0'))
      .filter((code) => code !== right)
      .slice(0, count);

  test('P10 of ten thousand guesses from as many client addresses, ten pass the limit and five are compared; then even the right code is refused', async () => {
    const { id, email, code } = await asking();
    const said = await guessAll(email, wrongCodes(code, 10_000));
    expect(said).toEqual({ code_invalid: 10, too_many_requests: 9_990 });
    expect(await MailCode.findOne({ where: { accountId: id } })).toMatchObject({ tries: 5 });
    expect(await guess(email, code, 20_000)).toBe('too_many_requests');
  }, 120_000);

  test('P10 a code allows five attempts, even in parallel and with other limits off', async () => {
    const { email, code } = await asking();
    idctl.app.config.limits.enabled = 'off';
    const said = await guessAll(email, [...wrongCodes(code, 199), code]);
    idctl.app.config.limits.enabled = 'on';
    expect(said).toEqual({ code_invalid: 200 });
  });

  test('P10 eight parallel uses of one code begin one session', async () => {
    const { id, email, code } = await asking();
    const use = async (): Promise<number> => {
      const { status } = await post('magic-code/verify', { email, code });
      // On a slow machine, a request can wait too long for the lock of the code. Try again.
      return status === 503 ? use() : status;
    };
    const statuses = await Promise.all(Array.from({ length: 8 }, use));
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(401)]);
    expect(await Session.count({ where: { accountId: id } })).toBe(1);
  });

  /** The whole answer, except the request id, the time and the random parts of cookies. */
  function wire({ status, headers, body }: Answer): string {
    const { requestId: _, ...rest } = body;
    const cookie = String(headers['set-cookie']).replace(/=[\w-]{43};|Expires=[^;]+;/g, ';');
    return JSON.stringify([
      status,
      { ...headers, date: '', 'x-request-id': '', 'set-cookie': cookie },
      rest,
    ]);
  }

  test('P7 known, unknown and disabled accounts get the same bytes for a code request, a sign-up and a wrong code', async () => {
    const disabled = (await person(idctl)).email ?? '';
    await transaction(() =>
      Account.update({ disabledAt: new Date() }, { where: { email: disabled } }),
    );
    const emails = [(await person(idctl)).email ?? '', `${fresh('nobody')}@example.test`, disabled];
    const given = { code: '000000', newPassword: 'a staple of another kind' };
    const asks: [string, object][] = [
      ['magic-code', {}],
      ['password/reset', {}],
      ['verify-email/resend', {}],
      ['signup', { password, name: 'Ada Byron' }],
      ['magic-code/verify', { code: given.code }],
      ['verify-email', { code: given.code }],
      ['password/reset/confirm', given],
    ];
    for (const [path, more] of asks) {
      const seen = new Set<string>();
      for (const email of emails) seen.add(wire(await post(path, { email, ...more })));
      expect([path, seen.size]).toEqual([path, 1]);
    }
  });

  test.each([
    ['magic-code', {}],
    ['signup', { password, name: 'Ada Byron' }],
  ])(
    'P7 %s writes as much for a known as for an unknown address, even if a limit prevents the mail',
    async (path, more) => {
      const written = async (email: string) => {
        const before = await rows();
        await post(path, { email, ...more });
        const after = await rows();
        return { outbox: after.outbox - before.outbox, counted: after.counted - before.counted };
      };
      const rows = async () => ({
        outbox: await OutboxItem.count(),
        counted: await Counter.sum('used'),
      });
      const emails = [(await person(idctl)).email ?? '', `${fresh('nobody')}@example.test`];
      const elsewhere = { ...idctl.operator(), client: { address: '192.0.2.7', userAgent: null } };
      await transaction(() => rememberClient(elsewhere, emails[0] ?? ''));
      for (let count = 0; count < 7; count += 1) {
        const seen = [];
        for (const email of emails) seen.push(await written(email));
        expect(seen).toEqual([seen[1], seen[1]]);
        expect(seen[0]).toMatchObject({ outbox: 1 });
      }
      expect(await idctl.lettersTo(emails[0] ?? '')).toHaveLength(3);
      expect(await OutboxItem.count()).toBe(0);
    },
  );

  test.each([
    ['magic-code', 'magic-code'],
    ['password/reset', 'password/reset'],
    ['verify-email/resend', 'verify-email/resend'],
    ['signup', 'verify-email/resend'],
  ])(
    'P7 first %s, then %s: each writes as much for a known as for an unknown address, even after earlier mails',
    async (first, then) => {
      const rows = async () => ({
        outbox: await OutboxItem.count(),
        counted: await Counter.sum('used'),
      });
      const written = async (path: string, email: string) => {
        const before = await rows();
        await post(path, { email, ...(path === 'signup' ? { password, name: 'Ada Byron' } : {}) });
        const after = await rows();
        return { outbox: after.outbox - before.outbox, counted: after.counted - before.counted };
      };
      const emails = [(await person(idctl)).email ?? '', `${fresh('nobody')}@example.test`];
      for (let count = 0; count < 7; count += 1) {
        const path = count === 0 ? first : then;
        const seen = [];
        for (const email of emails) seen.push(await written(path, email));
        expect([count, seen[0]]).toEqual([count, seen[1]]);
        await idctl.deliver();
      }
    },
  );

  test('P7 asking for a code and signing up read no account during the request', async () => {
    const sql = (text: string) => transaction(async () => Account.sequelize?.query(text));
    await sql('ALTER TABLE accounts RENAME TO hidden');
    const email = `${fresh('ada')}@example.test`;
    const statuses = [];
    for (const path of ['magic-code', 'password/reset', 'verify-email/resend'])
      statuses.push((await post(path, { email })).status);
    statuses.push((await post('signup', { email, password, name: 'Ada' })).status);
    await sql('ALTER TABLE hidden RENAME TO accounts');
    expect(statuses).toEqual([202, 202, 202, 201]);
    expect(await idctl.codeFor(email)).toMatch(/\d{6}/);
  });
});

test('P10 two daemons and the command line send each mail once, and one code at both daemons at once begins one session', async () => {
  const smtp = await startSmtp();
  const env = { IDCTL_MAIL_SMTP_URL: smtp.url, IDCTL_SIGNIN_MAGIC_CODE: 'on' };
  const site = await install({ env });
  try {
    const clients = (await Promise.all([site.serve(), site.serve()])).map(({ url }) =>
      createClient(url),
    );
    const email = site.owner.email;
    await clients[0]?.post('/api/v1/auth/magic-code', { email });
    const code = await smtp.codeTo(email);
    const signIns = clients.map((client) =>
      client.post('/api/v1/auth/magic-code/verify', { email, code }),
    );
    const statuses = (await Promise.all(signIns)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 401]);

    const guest = 'guest@example.test';
    const invited = await site.run([
      'invitation',
      'create',
      guest,
      '--org',
      'acme',
      '--role',
      'member',
      '--json',
    ]);
    const { url } = JSON.parse(invited.out);
    expect((await smtp.letterTo(guest)).text).toContain(url);
    expect(smtp.letters.map(({ to }) => to)).toEqual([email, guest]);
  } finally {
    await site.close();
    await smtp.stop();
  }
}, 120_000);
