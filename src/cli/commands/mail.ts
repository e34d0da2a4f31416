import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { docsFile } from '../../version.ts';
import { noun, verb } from '../command.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import type { Call } from '../run.ts';

/** Throws the error again. If no mail server is set, the hint names the configuration file. */
async function namingFile(call: Call, error: unknown): Promise<never> {
  if (!(error instanceof Refusal) || error.code !== 'mail_not_configured') throw error;
  const { file } = await call.configuration();
  throw new Refusal(error.code, error.message, {
    hint: `Set mail.smtpUrl in ${file ?? 'idctl.yaml'}; see ${docsFile('mail.md')}`,
  });
}

export function addMailCommands(program: Command): void {
  const mail = noun(program, 'mail', {
    summary: 'The mail server of this instance',
    example: 'idctl mail test ada@example.com',
  });
  verb(mail, 'test <address>', {
    summary: "Send a test mail, and print the mail server's answer",
    example: 'idctl mail test ada@example.com',
    run: async (call) => {
      const { testMail } = await import('../../services/instance/mail/test.ts');
      const view = await call.operate(testMail).catch((error) => namingFile(call, error));
      await tellOlderDaemon(call);
      call.show(view, [
        ['Sent to', ({ address }) => address],
        ['By', ({ server }) => server],
        ['Answer', ({ answer }) => answer],
      ]);
    },
  });
}
