import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';

/** Whether this instance sends mail. */
export function isMailConfigured({ config }: Pick<Context, 'config'>): boolean {
  return config.mail.smtpUrl !== undefined;
}

/** Refuses with `mail_not_configured` if this instance does not send mail. */
export function requireMail(
  ctx: Pick<Context, 'config'>,
  hint = 'Sign in another way, or ask your administrator to set up mail.',
): void {
  if (isMailConfigured(ctx)) return;
  throw new Refusal('mail_not_configured', 'This instance does not send mail.', { hint });
}
