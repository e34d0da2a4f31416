import type { Config } from '../../../config/schema.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { refuseField } from '../../../errors.ts';
import { knownClient } from '../../foundation/limits/password.ts';

// `password.minLength` in the configuration is the minimum length of the whole password. This
// constant is the minimum length without the words of the account.
const shortestRest = 8;
const longest = 128;

type Whose = Pick<Account, 'email' | 'name'>;
type Field = 'password' | 'newPassword';

/** Hashes a newly chosen password, or refuses the field and says why (spec §5.3, security P7). */
export async function hashNewPassword(
  ctx: Context,
  password: string,
  whose: Whose,
  field: Field = 'password',
): Promise<string> {
  await requireGoodPassword(ctx.config, password, whose, field);
  return ctx.passwords.hash(password, await knownClient(ctx));
}

/** Refuses a new password that is too short, too long or easy to guess (spec §5.3, security P7). */
export async function requireGoodPassword(
  config: Config,
  password: string,
  whose: Whose,
  field: Field = 'password',
): Promise<void> {
  const length = [...password].length;
  const least = config.password.minLength;
  if (length < least || length > longest) {
    throw refuseField(field, `must have ${least} to ${longest} characters; this one has ${length}`);
  }
  const lower = password.toLowerCase();
  const rest = withoutWords(lower, wordsOf([whose.email, whose.name, config.instance.name]));
  if ([...rest].length < shortestRest) {
    const fault = `must have ${shortestRest} characters besides name, address and the name of this service`;
    throw refuseField(field, fault);
  }
  if ((await isCommon(lower)) || (await isCommon(rest))) {
    const fault = 'is among the most common passwords, which attackers try first; choose another';
    throw refuseField(field, fault);
  }
}

const shortestWord = 3;

let common: Promise<ReadonlySet<string>> | undefined;

/** Whether the lower-case text is among the passwords that attackers try first (security P7). */
async function isCommon(text: string): Promise<boolean> {
  common ??= readCommon();
  return (await common).has(text);
}

/** Reads the list when first needed: it is half a megabyte, and most commands do not need it. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** The words that people who know the person would guess, longest first. */
function wordsOf(texts: (string | null)[]): string[] {
  const whole = texts.filter((text) => text !== null).map((text) => text.toLowerCase());
  const parts = whole.flatMap((text) => [...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)]);
  const words = [...whole, ...parts].filter((word) => word.length >= shortestWord);
  return [...new Set(words)].toSorted((a, b) => b.length - a.length);
}

/** Removes the words from a text: they make a password longer, not harder to guess. */
function withoutWords(text: string, words: string[]): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text);
}
