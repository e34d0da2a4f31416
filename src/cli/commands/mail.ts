import type { Command } from 'commander';
import { by } from '../by.ts';
import { noun, verb } from '../command.ts';
import { tellOlderDaemon } from '../older-daemon.ts';

/** Declares `idctl mail`. */
export function addMailCommands(program: Command): void {
  const mail = noun(program, 'mail', 'The mail server of this instance', 'idctl mail test ada@example.com');
  verb(mail, 'test <address>', {
    summary: 'Send a real mail, and say what the mail server answered',
    example: 'idctl mail test ada@example.com',
    run: async (call) => {
      const { testMail, testMailInput } = await import('../../services/instance/mail/test.ts');
      const view = await call.operate(by(testMailInput, testMail));
      await tellOlderDaemon(call);
      call.show(view, [
        ['Sent to', ({ address }) => address],
        ['By', ({ server }) => server],
        ['Answer', ({ answer }) => answer],
      ]);
    },
  });
}
