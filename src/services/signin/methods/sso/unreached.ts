import type { Context } from '../../../../context.ts';
import { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { tallyEvent } from '../../../foundation/events/record.ts';
import { recordOnce } from '../../redirect/record-once.ts';

/**
 * The error that the person sees. Only the organization's admins learn where the provider is and
 * why it cannot be used. They get one event per connection and reason in a quarter of an hour
 * (security S8, X5).
 */
export async function toldOfConnection(
  ctx: Context,
  connectionId: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  await recordOnce(error, connectionId, () => recordFailed(ctx, connectionId, error));
  return new Refusal('provider_failed', "The organization's identity provider could not be used.", {
    hint: 'Try again later, or ask your administrator.',
    cause: error,
  });
}

async function recordFailed(
  ctx: Context,
  connectionId: string,
  { message, code, extra }: Refusal,
): Promise<void> {
  await transaction(async () => {
    const connection = await SsoConnection.findByPk(connectionId);
    if (connection === null) return;
    const { id, organizationId, emailDomain, issuer } = connection;
    const reason = String(extra['reason'] ?? code);
    const stage = String(extra['stage'] ?? 'discovery');
    const subject = { type: 'sso', id, name: emailDomain ?? issuer };
    const what = {
      kind: 'sso.provider.failed' as const,
      organizationId,
      subject,
      data: { stage, reason, message },
    };
    await tallyEvent(ctx, what, { of: id, apart: `${stage} ${reason}` });
  });
}
