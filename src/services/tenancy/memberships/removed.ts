import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { FormerAddress } from '../../../database/models/former-address.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Tombstone } from '../../../database/models/tombstone.ts';
import { instanceKey } from '../../foundation/keys/instance-key.ts';

// The people that were removed from an organization (security I5). A tombstone names the account. If
// its person gives up the address, a hash of the address stays, for the next account that has it.

type Person = Pick<Account, 'id' | 'email'>;

/** Whether the organization has removed this person, or the earlier holder of their address. */
export async function isRemoved(
  ctx: Context,
  organizationId: string,
  { id: accountId, email }: Person,
): Promise<boolean> {
  if ((await Tombstone.count({ where: { organizationId, accountId } })) > 0) return true;
  if (!(await isFormerAddress(ctx, organizationId, email))) return false;
  // An admin has added the account under another address.
  return (await Membership.count({ where: { organizationId, accountId } })) === 0;
}

/** Whether this address belonged to a person that the organization had removed. */
export async function isFormerAddress(
  ctx: Context,
  organizationId: string,
  email: string | null,
): Promise<boolean> {
  if (email === null || !(await hasFormerAddresses(organizationId))) return false;
  const hash = await hashOf(ctx, email);
  return (await FormerAddress.count({ where: { organizationId, hash } })) > 0;
}

/**
 * Keeps the removals of an account for the next account of its address. Call it where the account
 * gives up the address, in the same transaction, with the account locked.
 */
export async function keepRemovals(ctx: Context, { id: accountId, email }: Person): Promise<void> {
  if (email === null) return;
  const removals = await Tombstone.findAll({ where: { accountId } });
  if (removals.length === 0) return;
  const hash = await hashOf(ctx, email);
  await FormerAddress.bulkCreate(
    removals.map(({ organizationId }) => ({ organizationId, hash, createdAt: ctx.now })),
    { ignoreDuplicates: true },
  );
}

/** Lets the organization's former addresses join again. Call it where an admin adds their people. */
export async function liftFormerAddresses(
  ctx: Context,
  organizationId: string,
  emails: (string | null)[],
): Promise<void> {
  if (emails.length === 0 || !(await hasFormerAddresses(organizationId))) return;
  const known = emails.filter((email) => email !== null);
  const hash = await Promise.all(known.map((email) => hashOf(ctx, email)));
  await FormerAddress.destroy({ where: { organizationId, hash } });
}

/** Lets the address join all organizations again (security O6). */
export async function forgetFormerAddress(ctx: Context, email: string | null): Promise<void> {
  if (email === null) return;
  await FormerAddress.destroy({ where: { hash: await hashOf(ctx, email) } });
}

async function hasFormerAddresses(organizationId: string): Promise<boolean> {
  return (await FormerAddress.findOne({ where: { organizationId } })) !== null;
}

async function hashOf(ctx: Context, email: string): Promise<string> {
  const key = await instanceKey(ctx, 'former addresses');
  return createHmac('sha256', key).update(email).digest('base64url');
}
