import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Account, type EmailProof } from '../../../database/models/account.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { recordEvent } from '../../foundation/events/record.ts';

/** The data of a sign-up. */
export interface SignedUp {
  email: string;
  name: string;
  /** Null for the default locale. */
  locale: string | null;
  passwordHash: string;
}

/** Creates the account of a sign-up; refuses with `already_exists` for a taken address. */
export async function createSignedUp(
  ctx: Context,
  { email, name, locale, passwordHash }: SignedUp,
  emailProof: EmailProof,
): Promise<Account> {
  const row = {
    id: orderedId(),
    email,
    emailProof,
    awaitsCode: emailProof === 'none',
    name,
    passwordHash,
    createdAt: ctx.now,
    ...(locale === null ? {} : { locale }),
  };
  const account = await refusingDuplicate(Account.create(row), {
    message: `An account with the address ${email} already exists.`,
    hint: 'Sign in, or ask your administrator for a new password.',
  });
  await recordEvent(ctx, {
    kind: 'user.created',
    subject: { type: 'user', id: account.id, name: email },
    data: { by: 'signup' },
  });
  return account;
}
