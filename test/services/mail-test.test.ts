import { expect, onTestFinished, test } from 'vitest';
import { type Installation, install } from '../support/installation.ts';
import { startSmtp } from '../support/smtp.ts';

test('mail test sends a real mail, and shows the server’s answer', async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.stop());
  const site: Installation = await install({ env: { IDCTL_MAIL_SMTP_URL: smtp.url } });
  onTestFinished(() => site.close());
  const sent = await site.run(['mail', 'test', 'ada@acme.test']);
  expect(sent).toMatchObject({ code: 0, err: '' });
  expect(sent.out).toMatch(/^Sent to: +ada@acme\.test\nBy: +127\.0\.0\.1:\d+\nAnswer: +250 .+\n$/);
  expect(await smtp.letterTo('ada@acme.test')).toMatchObject({ subject: 'Test mail of idctl' });
  smtp.refuse(550);
  const refused = await site.run(['mail', 'test', 'ada@acme.test']);
  expect(refused.code).toBe(3);
  expect(refused.err).toMatch(
    /^idctl: The mail server .+ The server answered: 550 .+\nhint: .+\n$/,
  );
  const json = JSON.parse((await site.run(['mail', 'test', 'ada@acme.test', '--json'])).err);
  expect(json).toMatchObject({ code: 'upstream_failed', answer: expect.stringMatching(/^550 /) });
});
