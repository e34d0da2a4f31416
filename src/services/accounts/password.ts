import type { Context } from '../../context.ts';
import { refuseField } from '../../errors.ts';

const longest = 128;

/** The hash of a password that somebody chose, or a refusal saying why it will not do (spec §5.3). */
export async function hashNewPassword(ctx: Context, password: string, email: string | null): Promise<string> {
  const length = [...password].length;
  const least = ctx.config.password.minLength;
  if (length < least || length > longest) {
    throw refuseField('password', `must have ${least} to ${longest} characters, this one has ${length}`);
  }
  if (email !== null && password.toLowerCase() === email)
    throw refuseField('password', 'must not be the e-mail address');
  return ctx.passwords.hash(password);
}
