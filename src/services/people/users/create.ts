import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { commandLine } from '../../../shell-word.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { hashNewPassword } from '../accounts/password.ts';
import type { createUserInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';

/** Makes an account whose address the operator vouches for; without a password it signs in by other ways only. */
export async function createUser(ctx: Context, input: z.output<typeof createUserInput>) {
  requireOperator(ctx);
  const passwordHash =
    input.password === undefined ? null : await hashNewPassword(ctx, input.password, input);
  const account = await transaction(async () => {
    const row = {
      id: orderedId(),
      email: input.email,
      emailProof: 'operator' as const,
      name: input.name,
      passwordHash,
      createdAt: ctx.now,
      ...(input.locale === undefined ? {} : { locale: input.locale }),
    };
    const made = await refusingDuplicate(Account.create(row), {
      message: `There is a user ${input.email} already.`,
      hint: `${commandLine('idctl user show', input.email)} shows them.`,
    });
    await recordEvent(ctx, {
      kind: 'user.created',
      subject: { type: 'user', id: made.id, name: input.email },
    });
    return made;
  });
  return viewUser(ctx, account);
}
