import { deliverMail } from '../../src/services/instance/mail/deliver.ts';
import { type Idctl, openIdctl } from './idctl.ts';
import { type Letter, type Smtp, startSmtp } from './smtp.ts';

/** An instance that sends mail, and the server that gets it. */
export interface MailingIdctl extends Idctl {
  smtp: Smtp;
  /** Runs the daemon's mail job once. */
  deliver(): Promise<void>;
  /** Delivers, then returns the letters to this address, oldest first. */
  lettersTo(address: string): Promise<Letter[]>;
  /** Delivers, then returns the code in the last letter to this address that has one. */
  codeFor(address: string): Promise<string>;
}

/** Opens an instance as `openIdctl` does, with a mail server and these settings. */
export async function openMailingIdctl(
  ...[given = {}, place]: Parameters<typeof openIdctl>
): Promise<MailingIdctl> {
  const smtp = await startSmtp();
  const idctl = await openIdctl({ mail: { smtpUrl: smtp.url }, ...given }, place);
  const stop = new AbortController().signal;
  const anew = () => idctl.as({ kind: 'system', name: 'mail' });
  const deliver = () => deliverMail(anew(), { stop, anew });
  const lettersTo = async (address: string) => {
    await deliver();
    for (const { subject, text, html } of smtp.letters)
      if (`${text} ${html}`.includes('/login/link'))
        throw new Error(`the letter "${subject}" contains a link that signs in`);
    return smtp.letters.filter(({ to }) => to === address);
  };
  return {
    ...idctl,
    smtp,
    deliver,
    lettersTo,
    codeFor: async (address) => {
      const letters = await lettersTo(address);
      // A notice that is sent together with the code may arrive after it.
      return letters.flatMap(({ text }) => /\b\d{6}\b/.exec(text) ?? []).at(-1) ?? 'none';
    },
    close: async () => {
      await idctl.close();
      await smtp.stop();
    },
  };
}
