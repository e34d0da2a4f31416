import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { noun, user, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import { askCode, canAsk, givenSecret } from '../prompt.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/two-factor/operations.ts');

const code = { '--code <digits>': 'the six digits that the authenticator app shows' };

export function addTotpCommands(program: Command): void {
  const totp = noun(program, 'totp', {
    summary: 'Two-factor authentication with an authenticator app',
    example: 'idctl totp enroll --user ada@example.com',
  });
  verb(totp, 'enroll', {
    summary: 'Set up an authenticator app: scan a QR code, then confirm with a code',
    required: user,
    example: 'idctl totp enroll --user ada@example.com',
    run: enroll,
  });
  verb(totp, 'confirm', {
    summary: 'Turn on two-factor authentication with a code of the new secret',
    required: { ...user, ...code },
    example: 'idctl totp confirm --user ada@example.com --code 123456',
    run: confirm,
  });
  verb(totp, 'disable', {
    summary: 'Turn off two-factor authentication with a current code; delete the secret',
    detail: 'It needs a code of the app, or a recovery code. A dry run does not check it.',
    required: user,
    options: {
      ...code,
      '--recovery-code-stdin': 'read a recovery code from standard input',
    },
    rehearsable: true,
    example: 'idctl totp disable --user ada@example.com --code 123456 --yes',
    run: async (call) => {
      const { disableTotp } = await operations();
      const asked = `Turn off two-factor authentication for ${whose(call)}?`;
      if (!call.flags.dryRun)
        await call.confirm(`${asked} Codes of the authenticator app are then refused.`);
      const enabled = ({ twoFactorEnabled }: { twoFactorEnabled: boolean }) => twoFactorEnabled;
      const { recoveryCodeStdin: stdin, ...input } = call.input;
      const recoveryCode = await givenSecret({ name: 'recovery-code', stdin, file: undefined });
      const given = { ...input, ...(recoveryCode !== undefined && { recoveryCode }) };
      await call.perform(disableTotp.forOperator, [['Two-factor', enabled]], given);
    },
  });
}

async function enroll(call: Call): Promise<void> {
  const { startTotp } = await operations();
  call.note(
    `Once this is confirmed, the password of ${whose(call)} alone is not enough to sign in. Recovery codes follow.`,
  );
  const enrolment = await call.operate(startTotp.forOperator);
  call.show(enrolment, [
    ['Secret', ({ secret }) => secret],
    ['URI', ({ otpauthUri }) => otpauthUri],
  ]);
  if (call.flags.json || !canAsk()) {
    call.note(
      `Confirm within 15 minutes: ${call.here(`idctl totp confirm${ofUser(call)} --code DIGITS`)}`,
    );
    return;
  }
  process.stderr.write(`\n${await drawQr(enrolment.otpauthUri)}\n`);
  call.note('Scan the QR code with an authenticator app, or type the secret into it.');
  for (let wrong = true; wrong; ) {
    call.input['code'] = await askCode('Code from the app');
    wrong = await confirm(call).then(
      () => false,
      (error: unknown) => tellWrongCode(call, error),
    );
  }
}

/** Makes the caller ask again after a wrong code. The limit on wrong codes ends the loop. */
function tellWrongCode(call: Call, error: unknown): true {
  if (!(error instanceof Refusal) || error.code !== 'second_factor_invalid') throw error;
  call.note(`${error.message} Enter the code that the app shows now.`);
  return true;
}

async function confirm(call: Call): Promise<void> {
  const { confirmTotp } = await operations();
  const view = await call.operate(confirmTotp.forOperator);
  const { recoveryCodes } = view;
  const enabled: Fields<typeof view> = [['Two-factor', ({ twoFactorEnabled }) => twoFactorEnabled]];
  if (recoveryCodes === undefined) return call.show(view, enabled);
  const { showCodes } = await import('./recovery-code.ts');
  showCodes(call, view, enabled, recoveryCodes);
}

async function drawQr(text: string): Promise<string> {
  const { default: qr } = await import('qrcode-terminal');
  return new Promise((resolve) => qr.generate(text, { small: true }, resolve));
}

/** The account that has the second factor. On a remote server, no name means your account. */
function whose({ input: { user: named } }: Call): string {
  return named === undefined ? 'your account' : String(named);
}

function ofUser({ input: { user: named } }: Call): string {
  return named === undefined ? '' : ` --user ${shellWord(String(named))}`;
}
