import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { secondAddress } from '../support/counterpart.ts';
import { hintLike } from '../support/hints.ts';
import { openNetwork } from '../support/network.ts';
import { freePorts } from '../support/ports.ts';
import { mailUser, startSilentSmtp, startSmtp } from '../support/smtp.ts';

const message = {
  to: 'ada@example.test',
  subject: 'A code for Åda',
  text: 'Your code is 123456.\n',
  html: '<p>Your code is <b>123456</b>.</p>',
};

// A slow machine needs this long.
const patient = { connect: 60_000, operation: 60_000, total: 60_000 };

function network(mail: Record<string, string>, limits = patient) {
  const opened = openNetwork({ mail }, limits);
  onTestFinished(() => opened.close());
  return opened;
}

async function server(options: Parameters<typeof startSmtp>[0] = {}) {
  const started = await startSmtp(options);
  onTestFinished(() => started.stop());
  return started;
}

const elsewhere = secondAddress();

const refusing = (reason: string, final = false, hint: unknown = hintLike(/\.$/)) => ({
  code: 'upstream_failed',
  extra: { reason, final },
  hint,
});

describe('sending mail', () => {
  test('to a server on loopback works without TLS, in text and HTML, with the configured sender', async () => {
    const smtp = await server();
    await network({ smtpUrl: smtp.url, from: 'Acme <id@acme.test>' }).sendMail(message);
    expect(smtp.letters).toMatchObject([
      { from: 'id@acme.test', to: message.to, text: 'Your code is 123456.', secure: false },
    ]);
    expect(smtp.letters[0]?.html).toContain(message.html);
    expect(smtp.letters[0]?.raw).toMatch(/^Auto-Submitted: auto-generated/m);
    expect(smtp.letters[0]?.raw).toMatch(/^From: Acme <id@acme.test>/m);
  });

  test.each(['starttls', 'smtps'] as const)(
    'with %s trusts mail.caFile and authenticates',
    async (kind) => {
      const smtp = await server({ kind });
      const mail = { smtpUrl: smtp.url, caFile: smtp.caFile };
      await network(mail).sendMail(message);
      await network(mail).greetMailServer();
      expect(smtp.letters).toMatchObject([{ secure: true, user: mailUser.name }]);
      await expect(network({ smtpUrl: smtp.url }).sendMail(message)).rejects.toMatchObject(
        refusing(
          'its certificate is not trusted',
          false,
          hintLike('Set mail.caFile to the certificate authority'),
        ),
      );
      const wrong = {
        ...mail,
        smtpUrl: smtp.url.replace(encodeURIComponent(mailUser.password), 'guess'),
      };
      await expect(network(wrong).greetMailServer()).rejects.toMatchObject(
        refusing('it did not accept the user name and password'),
      );
      expect(smtp.letters).toHaveLength(1);
    },
  );

  test.skipIf(elsewhere === undefined)(
    'to a server off loopback sends nothing without TLS',
    async () => {
      const smtp = await server({ host: elsewhere ?? '' });
      await expect(network({ smtpUrl: smtp.url }).sendMail(message)).rejects.toMatchObject(
        refusing('the encrypted connection could not be made'),
      );
      expect([smtp.connections(), smtp.letters]).toEqual([1, []]);
    },
  );

  test('gives up in time if the server does not listen or stays silent, and does not leave a connection', async () => {
    const [port] = await freePorts(1);
    await expect(
      network({ smtpUrl: `smtp://127.0.0.1:${port}` }).sendMail(message),
    ).rejects.toMatchObject(refusing('it refused the connection'));
    const silent = await startSilentSmtp();
    onTestFinished(() => silent.stop());
    await expect(
      network({ smtpUrl: silent.url }, { connect: 300, operation: 300, total: 600 }).sendMail(
        message,
      ),
    ).rejects.toMatchObject(refusing('it did not answer in time'));
    while (silent.connections() > 0) await wait(10);
  });

  test.each([
    [450, false],
    [550, true],
  ])('fails if the server refuses the recipient with %i (final: %s)', async (code, final) => {
    const smtp = await server();
    smtp.refuse(code);
    await expect(network({ smtpUrl: smtp.url }).sendMail(message)).rejects.toMatchObject(
      refusing('it did not accept the sender or the recipient', final),
    );
  });

  test('is refused inside a transaction', async () => {
    const smtp = await server();
    const busy = openNetwork({ mail: { smtpUrl: smtp.url } }, {}, (what) => {
      throw new Error(`${what} inside a transaction`);
    });
    await expect(busy.sendMail(message)).rejects.toThrow('sending mail inside a transaction');
    await expect(busy.greetMailServer()).rejects.toThrow('inside a transaction');
    expect(smtp.connections()).toBe(0);
  });

  test('is off unless it is configured', async () => {
    await expect(network({}).sendMail(message)).rejects.toMatchObject({
      code: 'mail_not_configured',
    });
  });
});
