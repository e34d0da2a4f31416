import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { deliverMail } from '../../src/services/mail/deliver.ts';
import { type Idctl, openIdctl } from './idctl.ts';
import { type Letter, type Smtp, startSmtp } from './smtp.ts';

/** An instance that sends mail, and the server that gets it. */
export interface MailingIdctl extends Idctl {
  smtp: Smtp;
  /** Takes turns of the daemon's job until nothing is due. */
  deliver(): Promise<void>;
  /** Delivers; then what has come to this address, oldest first. */
  lettersTo(address: string): Promise<Letter[]>;
  /** Delivers; then the code of the last letter to this address. */
  codeFor(address: string): Promise<string>;
}

/** Opens it, with these settings beside its mail server. */
export async function openMailingIdctl(given: Parameters<typeof openIdctl>[0] = {}): Promise<MailingIdctl> {
  const smtp = await startSmtp();
  const idctl = await openIdctl({ mail: { smtpUrl: smtp.url }, ...given });
  const deliver = () => deliverAll(idctl);
  const lettersTo = async (address: string) => {
    await deliver();
    return smtp.letters.filter(({ to }) => to === address);
  };
  return {
    ...idctl,
    smtp,
    deliver,
    lettersTo,
    codeFor: async (address) =>
      /\b\d{6}\b/.exec((await lettersTo(address)).at(-1)?.text ?? '')?.[0] ?? 'none',
    close: async () => {
      await idctl.close();
      await smtp.stop();
    },
  };
}

async function deliverAll(idctl: Idctl): Promise<void> {
  const stop = new AbortController().signal;
  // A sign-up leaves a mail behind; what cannot be sent stays.
  for (let turn = 0; turn < 3 && (await OutboxItem.count()) > 0; turn += 1) {
    await deliverMail(idctl.as({ kind: 'system', name: 'mail' }), { stop });
  }
}
