import { Op } from 'sequelize';
import type { Context } from '../../context.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import type { Account } from '../../database/models/account.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { Identity } from '../../database/models/identity.ts';
import { Invitation } from '../../database/models/invitation.ts';
import { LoginLink } from '../../database/models/login-link.ts';
import { MailCode } from '../../database/models/mail-code.ts';
import { PendingSignIn } from '../../database/models/pending-sign-in.ts';
import { isProved, isProvedForGood } from '../accounts/view.ts';
import { recordEvent } from '../events/record.ts';
import { belongsElsewhere } from '../memberships/elsewhere.ts';
import { endSessions } from '../sessions/end.ts';
import { discardTotp } from '../two-factor/discard.ts';
import { detachIdentities, recordUnlinked } from './detach.ts';

/**
 * Readies an account for the person whom the organization owning its domain vouches for. If nobody ever proved
 * the address, or nobody but an earlier owner of the domain, what an earlier holder left ends (security I3); else only
 * what earlier owners have linked does (security I2). Call it inside the sign-in's transaction, before the first link.
 */
export async function reclaim(ctx: Context, account: Account, organizationId: string): Promise<void> {
  if (isProvedForGood(account)) return dropForeignLinks(ctx, account, organizationId);
  // A proved account's second factor guards the other organizations that trust it (security P12).
  const keepsTotp = isProved(account) && (await belongsElsewhere(account.id, organizationId));
  await account.update({ emailProof: 'domain' });
  await takeOver(ctx, account, { by: 'domain', organizationId, keepsTotp });
}

/** Who takes an account over, and what of it stays. */
interface Takeover {
  by: 'domain' | 'mail' | 'signup';
  /** The organization that does, which keeps the keys of its own connections (security I1). */
  organizationId?: string | null;
  keepsTotp?: boolean;
}

/**
 * Ends what somebody left on an account whose address they never proved, for whoever has now proved it, or signs up
 * for it in their place (security I3, P11).
 */
export async function takeOver(
  ctx: Context,
  account: Account,
  { by, organizationId = null, keepsTotp = false }: Takeover,
): Promise<void> {
  await endEverything(ctx, account, { organizationId, keepsTotp });
  await recordEvent(ctx, {
    kind: 'account.reclaimed',
    organizationId,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { by },
  });
}

/** Every way in that somebody may have left: a new kind of credential is ended here too. */
async function endEverything(
  ctx: Context,
  account: Account,
  { organizationId, keepsTotp }: { organizationId: string | null; keepsTotp: boolean },
): Promise<void> {
  await account.update({ passwordHash: null });
  if (!keepsTotp) await discardTotp(account.id);
  await endSessions(ctx, { accountId: account.id });
  await AccessToken.destroy({ where: { accountId: account.id } });
  await OAuthApp.destroy({ where: { accountId: account.id } });
  const others = [{ organizationId: null }, { organizationId: { [Op.ne]: organizationId } }];
  await Identity.destroy({ where: { accountId: account.id, [Op.or]: others } });
  await MailCode.destroy({ where: { accountId: account.id } });
  await LoginLink.destroy({ where: { accountId: account.id } });
  await PendingSignIn.destroy({ where: { accountId: account.id } });
  // Whoever signed up with it has not accepted it for them (security O6); their link goes on to work.
  await Invitation.update({ accountId: null }, { where: { accountId: account.id, acceptedAt: null } });
  // What goes on with the account must see none of it.
  await account.reload();
}

/** Other organizations can only have linked the address while its domain was theirs. */
async function dropForeignLinks(ctx: Context, account: Account, organizationId: string): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const foreign = await Identity.findAll({
    where: { accountId: account.id, organizationId: { [Op.ne]: organizationId } },
  });
  await detachIdentities(ctx, foreign);
  for (const identity of foreign) await recordUnlinked(ctx, identity, account.name);
}
