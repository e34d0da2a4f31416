import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { tallyEvent } from '../../../foundation/events/record.ts';
import { providerNames, type SocialProvider } from '../../../tenancy/identities/providers.ts';
import { recordOnce } from '../../redirect/record-once.ts';

/**
 * The error that the person sees. Only the log and the operator learn why a provider cannot be
 * used. They get one event per provider and reason in a quarter of an hour (security S8, X5).
 */
export async function toldOfProvider(
  ctx: Context,
  provider: SocialProvider,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  await recordOnce(error, provider, () => recordFailed(ctx, provider, error));
  return new Refusal('provider_failed', `${providerNames[provider]} could not be used.`, {
    hint: 'Try again later, or sign in another way.',
    cause: error,
  });
}

async function recordFailed(
  ctx: Context,
  provider: SocialProvider,
  { message, code, extra }: Refusal,
): Promise<void> {
  const reason = String(extra['reason'] ?? code);
  const stage = String(extra['stage'] ?? 'discovery');
  const what = {
    kind: 'social.provider.failed' as const,
    data: { provider, stage, reason, message },
  };
  await transaction(() => tallyEvent(ctx, what, { of: provider, apart: `${stage} ${reason}` }));
}
