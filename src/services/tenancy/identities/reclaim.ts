import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import type { Late } from '../../../database/hold-order.ts';
import { Account, isProved, isProvedForGood } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Membership } from '../../../database/models/membership.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findOwner, findVerified } from '../../foundation/domain-names/owns.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { endCredentials } from '../../people/credentials/credentials.ts';
import { recordRenamed } from '../scim-records/member.ts';
import { belongsElsewhere } from './identities.sql.ts';
import { detachIdentities, recordUnlinked } from './operations.ts';

/**
 * Prepares an account for a person of the organization that owns its domain. If the address was
 * never proved, or only by a former owner of the domain, removes the earlier holder's credentials
 * and name (security I3). Otherwise unlinks only the identities of other organizations (security
 * I2). `name` is the organization's name for the person, if any; `unapproved` says that the proof came
 * through an unapproved connection. Call it before the account is linked or becomes a member, in the
 * same transaction.
 */
export async function reclaim(
  ctx: Context,
  account: Account,
  organizationId: string,
  { name = null, unapproved = false }: { name?: string | null; unapproved?: boolean } = {},
): Promise<void> {
  const plan = await planReclaim(ctx, account, { organizationId, unapproved });
  if (plan === null) return dropForeignLinks(ctx, account, organizationId);
  const { proof, keepsTotp } = plan;
  await account.update({ ...proof, name: name ?? localPart(account) });
  await recordRenamed(ctx, account, organizationId);
  await takeOver(ctx, account, { by: 'domain', organizationId, keepsTotp });
}

/** The new proof, and whether the second factor stays. Null if a proof prevents a reclaim. */
export async function planReclaim(
  ctx: Pick<Context, 'config'>,
  account: Pick<Account, 'id' | 'emailProof'>,
  by: { organizationId: string; unapproved: boolean },
) {
  if (isProvedForGood(account)) return null;
  const keepsTotp = await keepsSecondFactor(ctx, account, by);
  return { proof: { emailProof: 'domain', awaitsCode: false } as const, keepsTotp };
}

async function keepsSecondFactor(
  ctx: Pick<Context, 'config'>,
  { id: accountId, emailProof }: Pick<Account, 'id' | 'emailProof'>,
  { organizationId, unapproved }: { organizationId: string; unapproved: boolean },
): Promise<boolean> {
  // A sign-in must not remove the second factor that it requires (security I8). An unapproved
  // connection requires one of everyone, and every connection of its organization's owners.
  if (unapproved) return true;
  const owner = { organizationId, accountId, role: 'owner' } as const;
  if ((await Membership.count({ where: owner })) > 0) return true;
  // A proved account's second factor protects the other organizations that trust it (security P12).
  return isProved({ emailProof }) && (await belongsElsewhere(ctx, accountId, organizationId));
}

interface Takeover {
  by: 'domain' | 'mail' | 'operator' | 'signup';
  /** The organization that takes the account over; its own connections' keys stay (security I1). */
  organizationId?: string | null;
  keepsTotp?: boolean;
}

/** The fields of an account that are checked before it becomes a member. */
type Candidate = Pick<Account, 'id' | 'email' | 'emailProof' | 'name'>;

/**
 * Reclaims the account that is about to become a member, if the organization owns the domain and no
 * proof prevents it (security I3). Returns whether it did; `account` then has the new name.
 */
export async function reclaimMember(
  ctx: Context,
  account: Candidate,
  organizationId: string,
  { name, ...late }: { name: string | null } & Late,
): Promise<boolean> {
  if (!(await isToReclaim(ctx, account, organizationId, late))) return false;
  const whole = await Account.findByPk(account.id, { rejectOnEmpty: true });
  await reclaim(ctx, whole, organizationId, { name });
  const { emailProof, name: renamed } = whole;
  Object.assign(account, { emailProof, name: renamed });
  return true;
}

/**
 * Whether `reclaimMember` would reclaim the account. If a verified domain decides this, the domain
 * cannot be removed until the transaction ends.
 */
export async function isToReclaim(
  ctx: Context,
  account: Candidate,
  organizationId: string,
  late?: Late,
): Promise<boolean> {
  const { email } = account;
  if (email === null || isProvedForGood(account)) return false;
  const domain = domainOf(email);
  if ((await findVerified(organizationId, domain, late)) !== null) return true;
  return ctx.config.trust.domains === 'off' && (await findOwner(domain)) === null;
}

/** The default name of an account: the local part of its address, if it has one. */
export function localPart({ email, name }: Account): string {
  return email === null ? name : email.slice(0, email.lastIndexOf('@'));
}

/**
 * Removes the credentials that an earlier holder of the account left. Call it when the account may
 * now belong to another person (security I3, P11).
 */
export async function takeOver(
  ctx: Context,
  account: Account,
  { by, organizationId = null, keepsTotp = false }: Takeover,
): Promise<void> {
  await endCredentials(ctx, account.id, { organizationId, keepsTotp });
  // The caller's `account` must not keep the old values.
  await account.reload();
  await recordEvent(ctx, {
    kind: 'account.reclaimed',
    ...eventAbout('user', account, organizationId),
    data: { by },
  });
}

/** Unlinks identities that other organizations linked while they owned the domain. */
async function dropForeignLinks(
  ctx: Context,
  account: Account,
  organizationId: string,
): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const foreign = await Identity.findAll({
    where: { accountId: account.id, organizationId: { [Op.ne]: organizationId } },
  });
  await detachIdentities(ctx, foreign);
  for (const identity of foreign) await recordUnlinked(ctx, identity, account.name);
}
