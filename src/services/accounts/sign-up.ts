import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { Account } from '../../database/models/account.ts';
import { transaction } from '../../database/transaction.ts';
import { refusingDuplicate } from '../../database/unique.ts';
import { Refusal } from '../../errors.ts';
import { domainOf } from '../domains/canonical.ts';
import { isClaimed } from '../domains/owns.ts';
import { recordEvent } from '../events/record.ts';
import { clientLimit } from '../limits/password.ts';
import { giveBack, requireRoom, spend } from '../limits/spend.ts';
import { beginSession } from '../sessions/begin.ts';
import { hashNewPassword } from './password.ts';
import type { signUpInput } from './schema.ts';

type Input = z.output<typeof signUpInput>;

/**
 * Makes an account for whoever comes, and signs it in. Nobody has proven its address: the instance takes
 * it as verified (spec §2.6), and the organization that owns the domain does not (security I3). Addresses on
 * a domain that an organization has verified are refused: how those sign in is its to say (security O2).
 */
export async function signUp(ctx: Context, input: Input) {
  requireOpen(ctx);
  await requireUnclaimed(input.email);
  const limits = [clientLimit(ctx)];
  await requireRoom(ctx, limits);
  const passwordHash = await hashNewPassword(ctx, input.password, input);
  // That an address is taken is no secret to whoever may sign up; asking for many at once is what is limited.
  await spend(ctx, limits);
  const session = await transaction(async () => {
    // Asked again: an organization may have verified the domain while the hash was computed.
    await requireUnclaimed(input.email);
    const account = await create(ctx, input, passwordHash);
    await giveBack(ctx, limits);
    return beginSession(ctx, account, { method: 'password' });
  });
  return { emailVerification: 'done' as const, ...session };
}

function requireOpen(ctx: Context): void {
  if (ctx.config.signup.open === 'on') return;
  throw new Refusal('signup_closed', 'Nobody can sign up here by themselves.', {
    hint: 'Sign in through your organization, or ask your administrator for an account.',
  });
}

async function requireUnclaimed(email: string): Promise<void> {
  const domain = domainOf(email);
  if (!(await isClaimed(domain))) return;
  throw new Refusal('signup_closed', `Addresses on ${domain} belong to an organization.`, {
    hint: 'Sign in through your organization, or ask its administrator for an account.',
  });
}

async function create(ctx: Context, input: Input, passwordHash: string): Promise<Account> {
  const { email, name, locale } = input;
  const row = {
    id: orderedId(),
    email,
    emailProof: 'auto' as const,
    name,
    passwordHash,
    createdAt: ctx.now,
    ...(locale === undefined ? {} : { locale }),
  };
  const account = await refusingDuplicate(Account.create(row), {
    message: `There is an account with the address ${email} already.`,
    hint: 'Sign in, or ask your administrator for a new password.',
  });
  await recordEvent(ctx, {
    kind: 'user.created',
    subject: { type: 'user', id: account.id, name: email },
    data: { by: 'signup' },
  });
  return account;
}
