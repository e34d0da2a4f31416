import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { shellWord } from '../../shell-word.ts';
import { noun, user, verb } from '../command.ts';
import { askCode, canAsk } from '../prompt.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/two-factor/operations.ts');

const code = { '--code <digits>': 'the six digits that the authenticator shows' };

export function addTotpCommands(program: Command): void {
  const totp = noun(program, 'totp', {
    summary: 'Two-factor authentication by an authenticator app',
    example: 'idctl totp enroll --user ada@example.com',
  });
  verb(totp, 'enroll', {
    summary: 'Begin an enrolment: a QR code to scan, then a code that confirms it',
    required: user,
    example: 'idctl totp enroll --user ada@example.com',
    run: enroll,
  });
  verb(totp, 'confirm', {
    summary: 'Turn two-factor authentication on by a code of the new secret',
    required: { ...user, ...code },
    example: 'idctl totp confirm --user ada@example.com --code 123456',
    run: confirm,
  });
  verb(totp, 'disable', {
    summary: 'Turn it off by a current code; the secret is discarded',
    detail: 'A dry run does not check the code.',
    required: { ...user, ...code },
    rehearsable: true,
    example: 'idctl totp disable --user ada@example.com --code 123456 --yes',
    run: async (call) => {
      const { disableTotp } = await operations();
      const asked = `Turn two-factor authentication off for ${whose(call)}?`;
      if (!call.flags.dryRun)
        await call.confirm(`${asked} Its authenticator gives no valid code after that.`);
      const enabled = ({ twoFactorEnabled }: { twoFactorEnabled: boolean }) => twoFactorEnabled;
      await call.perform(disableTotp.forOperator, [['Two-factor', enabled]]);
    },
  });
}

async function enroll(call: Call): Promise<void> {
  const { startTotp } = await operations();
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

/** Asks again after a mistyped or expired code; the limit on wrong codes ends this. */
function tellWrongCode(call: Call, error: unknown): true {
  if (!(error instanceof Refusal) || error.code !== 'second_factor_invalid') throw error;
  call.note(`${error.message} Enter the code that it shows now.`);
  return true;
}

async function confirm(call: Call): Promise<void> {
  const { confirmTotp } = await operations();
  const view = await call.operate(confirmTotp.forOperator);
  call.show(view, [['Two-factor', ({ twoFactorEnabled }) => twoFactorEnabled]]);
}

async function drawQr(text: string): Promise<string> {
  const { default: qr } = await import('qrcode-terminal');
  return new Promise((resolve) => qr.generate(text, { small: true }, resolve));
}

/** Whose second factor it is: from afar, the account of the token needs no name. */
function whose({ input: { user: named } }: Call): string {
  return named === undefined ? 'your account' : String(named);
}

function ofUser({ input: { user: named } }: Call): string {
  return named === undefined ? '' : ` --user ${shellWord(String(named))}`;
}
