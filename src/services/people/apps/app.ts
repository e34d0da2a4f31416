import { Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant } from '../../foundation/fields.ts';
import { deleteRecoveryCodes } from '../codes/recovery-code.ts';
import { removePasskeys } from '../passkeys/passkey.ts';
import { recordTokenEvent, suspended } from '../tokens/token.ts';

export const appView = z.object({
  id,
  name: z.string(),
  clientId: z.string(),
  organization: z
    .object({ id, slug: z.string() })
    .nullable()
    .describe(
      'The app may introspect the tokens of its members. If null, every token is inactive.',
    ),
  createdAt: instant,
  /** Present only while the app is suspended, because a backup was restored. */
  suspendedAt: instant.optional(),
});

/** The answer to a registration; the secret is not shown again. */
export const newAppView = appView.extend({ clientSecret: z.string() });

/** An app as its owner and the operator see it, with its loaded or given organization. */
export function viewApp(app: OAuthApp, organization = app.organization ?? null) {
  const { id, name, clientId, createdAt } = app;
  const asksFor = organization === null ? null : { id: organization.id, slug: organization.slug };
  return {
    id,
    name,
    clientId,
    organization: asksFor,
    createdAt: createdAt.toISOString(),
    ...suspended(app),
  };
}

/** Records an event of an app; call it inside the transaction that makes the change. */
export function recordAppEvent(
  ctx: Context,
  what:
    | { kind: 'app.registered' | 'app.regenerated' }
    | { kind: 'app.revoked'; keepTokens: boolean },
  { id, name, accountId: account }: OAuthApp,
): Promise<void> {
  const subject = { type: 'app', id, name };
  if (what.kind !== 'app.revoked')
    return recordEvent(ctx, { kind: what.kind, subject, data: { account } });
  return recordEvent(ctx, {
    kind: what.kind,
    subject,
    data: { account, keepTokens: what.keepTokens },
  });
}

/**
 * If the account has another second factor, revokes its tokens, apps, passkeys and recovery codes
 * that only another organization's provider vouched for. Call it where an account joins this
 * organization, with the account locked.
 */
export async function endVouchedTokens(
  ctx: Context,
  accountId: string,
  organizationId: string,
): Promise<void> {
  const account = await Account.findByPk(accountId);
  if (account === null || !hasSecondFactor(account)) return;
  // The column is NULL for a token with another proof, and no comparison matches NULL.
  const where = { accountId, vouchedBy: { [Op.ne]: organizationId } };
  const vouched = await Passkey.findAll({ where });
  const own = (await Passkey.count({ where: { accountId } })) - vouched.length;
  if (account.totpEnabledAt === null && own === 0) return;
  await removePasskeys(ctx, account, vouched, { reason: 'joined' });
  await deleteRecoveryCodes(accountId, { vouchedBy: where.vouchedBy });
  await revokeTokens(ctx, where, 'joined');
  await revokeApps(ctx, where);
}

/** Revokes these tokens, with an event for each that gives the reason. */
export async function revokeTokens(
  ctx: Context,
  where: WhereOptions<AccessToken>,
  reason: string,
): Promise<void> {
  for (const token of await AccessToken.findAll({ where })) {
    await token.destroy();
    await recordTokenEvent(ctx, 'token.revoked', token, { reason });
  }
}

/** Revokes these apps with their tokens, with an event for each app. */
export async function revokeApps(ctx: Context, where: WhereOptions<OAuthApp>): Promise<void> {
  for (const app of await OAuthApp.findAll({ where })) {
    await app.destroy();
    await recordAppEvent(ctx, { kind: 'app.revoked', keepTokens: false }, app);
  }
}
