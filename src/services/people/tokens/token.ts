import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken, tokenKinds, tokenScopes } from '../../../database/models/access-token.ts';
import type { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { Session } from '../../../database/models/session.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import type { SecondFactor } from '../two-factor/second-factor.ts';

export const tokenView = z.object({
  id,
  name: z.string(),
  description: z.string().nullable(),
  prefix: z.string(),
  kind: z.enum(tokenKinds),
  scope: z.enum(tokenScopes),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  expiresAt: instant.nullable(),
  /** Only while the token is suspended, because a backup was restored. */
  suspendedAt: instant.optional(),
});
export const tokenPage = pageOf(tokenView);

/** The answer to making or regenerating a token; the value is not shown again. */
export const newTokenView = tokenView.extend({ token: z.string() });

/** A token as its owner and the operator see it. */
export function viewToken(token: AccessToken) {
  return {
    id: token.id,
    name: token.name,
    description: token.description,
    prefix: token.prefix,
    kind: token.kind,
    scope: token.scope,
    createdAt: token.createdAt.toISOString(),
    lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
    expiresAt: token.expiresAt?.toISOString() ?? null,
    ...suspended(token),
  };
}

/** The field that shows a suspension; absent if not suspended. */
export function suspended({ suspendedAt }: { suspendedAt: Date | null }): { suspendedAt?: string } {
  return suspendedAt ? { suspendedAt: suspendedAt.toISOString() } : {};
}

/** Records an event of a token; call it inside the transaction that makes the change. */
export function recordTokenEvent(
  ctx: Context,
  kind: 'token.created' | 'token.regenerated' | 'token.revoked',
  token: Pick<AccessToken, 'id' | 'name' | 'accountId'>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const subject = { type: 'token', id: token.id, name: token.name };
  return recordEvent(ctx, { kind, subject, data: { account: token.accountId, ...more } });
}

// A provider is trusted only with the accounts of its own organization (security P12). A token or
// app with no other proof must not give it access to another organization later.

/**
 * The organization whose provider is the only proof behind the caller's session, or null. A passed
 * second factor is also a proof, unless it was added in such a session. A token has its own.
 */
export async function voucherOf({ actor }: Context): Promise<string | null> {
  if (actor.kind !== 'user') return null;
  if (actor.via !== 'session')
    return (await AccessToken.findByPk(actor.tokenId))?.vouchedBy ?? null;
  const session = await Session.findByPk(actor.sessionId);
  if (session === null) return null;
  const alone = session.method === 'sso' && session.secondFactorAt === null;
  return session.vouchedBy ?? (alone ? session.organizationId : null);
}

/** The organization whose provider was the only proof when the factor was added, or null. */
export async function voucherOfFactor(
  { totpVouchedBy }: Pick<Account, 'totpVouchedBy'>,
  factor: SecondFactor,
): Promise<string | null> {
  if ('step' in factor) return totpVouchedBy;
  return (await Passkey.findByPk(factor.passkeyId))?.vouchedBy ?? null;
}

// The last use of a token is known to the minute, and no request waits for the write (security
// P13). The request notes the use; a job writes it.

const minuteMs = 60_000;

/** Remembers that a token was used now, unless a use in this minute is stored already. */
export function noteTokenUse(ctx: Context, id: string, lastUsedAt: Date | null): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(ctx.now)) ctx.tokenUses.set(id, ctx.now);
}

/** Writes the noted uses, each in a transaction. After a failure, the next run writes the rest. */
export async function writeTokenUses(ctx: Context): Promise<void> {
  for (const [id, at] of [...ctx.tokenUses]) {
    const stale = {
      [Op.or]: [{ lastUsedAt: null }, { lastUsedAt: { [Op.lte]: minuteBefore(at) } }],
    };
    await transaction(() => AccessToken.update({ lastUsedAt: at }, { where: { id, ...stale } }));
    if (ctx.tokenUses.get(id) === at) ctx.tokenUses.delete(id);
  }
}

function minuteBefore(instant: Date): Date {
  return new Date(instant.getTime() - minuteMs);
}

/** The refusal of the later of two changes at once. */
export function changedMeanwhile(what: 'app' | 'token'): Refusal {
  return new Refusal('conflict', `This ${what} was regenerated or revoked at the same moment.`, {
    hint: `List the ${what}s and try again.`,
  });
}
