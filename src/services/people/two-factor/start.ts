import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newTotpSecret, totpUri } from '../../../crypto/totp.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { alreadyEnabled } from './refusals.ts';
import type { startTotpInput } from './schema.ts';
import { sealTotpSecret } from './secret.ts';
import { requireOwnAccount } from './whose.ts';

type Input = Partial<z.output<typeof startTotpInput>>;

/**
 * Begins an enrolment (spec §3.4): a fresh secret, shown this once, that a code must confirm within a
 * quarter of an hour. Starting again replaces it; an enabled second factor is `already_exists`.
 */
export async function startTotp(ctx: Context, input: Input) {
  const account = await requireOwnAccount(ctx, input.user);
  const secret = newTotpSecret();
  await transaction(async () => {
    const pending = { totpSecret: sealTotpSecret(ctx, account.id, secret), totpStartedAt: ctx.now };
    const [started] = await Account.update(pending, { where: { id: account.id, totpEnabledAt: null } });
    if (started === 0) throw alreadyEnabled();
  });
  const uri = totpUri({ secret, issuer: ctx.config.instance.name, account: account.email ?? account.name });
  return { secret, otpauthUri: uri };
}
