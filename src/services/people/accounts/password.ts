import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { refuseField } from '../../../errors.ts';
import { knownClient } from '../../foundation/limits/password.ts';
import { isCommon, withoutWords, wordsOf } from './common-passwords.ts';

const shortest = 8;
const longest = 128;

/** Hashes a newly chosen password, or refuses the field and says why (spec §5.3, security P7). */
export async function hashNewPassword(
  ctx: Context,
  password: string,
  whose: Pick<Account, 'email' | 'name'>,
  field: 'password' | 'newPassword' = 'password',
): Promise<string> {
  const length = [...password].length;
  const least = ctx.config.password.minLength;
  if (length < least || length > longest) {
    throw refuseField(field, `must have ${least} to ${longest} characters, this one has ${length}`);
  }
  const lower = password.toLowerCase();
  const rest = withoutWords(lower, wordsOf([whose.email, whose.name, ctx.config.instance.name]));
  if ([...rest].length < shortest) {
    throw refuseField(
      field,
      'must not be made of the name, the address or the name of this service',
    );
  }
  if ((await isCommon(lower)) || (await isCommon(rest))) {
    throw refuseField(
      field,
      'is among the most common passwords, which are tried first; choose another',
    );
  }
  return ctx.passwords.hash(password, await knownClient(ctx));
}
