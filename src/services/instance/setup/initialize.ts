import { randomInt } from 'node:crypto';
import type { z } from 'zod';
import type { Config } from '../../../config/schema.ts';
import type { Context } from '../../../context.ts';
import type { Address } from '../../../database/connect.ts';
import { Account, isProved } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { openDatabase } from '../../../database/open.ts';
import { databaseRefusal } from '../../../database/refusals.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import { hashNewPassword, requireGoodPassword } from '../../people/accounts/password.ts';
import { createUser } from '../../people/users/operations.ts';
import { takeOver } from '../../tenancy/identities/reclaim.ts';
import { addMember } from '../../tenancy/memberships/add.ts';
import { createOrganization } from '../../tenancy/organizations/operations.ts';
import { viewOrganization } from '../../tenancy/organizations/view.ts';
import type { initializeInput } from './schema.ts';

type Input = z.output<typeof initializeInput>;

const usualOwner = 'admin@idctl.test';

/** The operator does not give a name for the owner, so the name comes from the e-mail address. */
const nameOf = (email: string): string => email.slice(0, email.lastIndexOf('@'));

/** Refuses a password that `initialize` would refuse. Call it before anything is written. */
export async function requireFirstPassword(config: Config, input: Input): Promise<void> {
  const { owner: email = usualOwner, password } = input;
  if (password !== undefined)
    await requireGoodPassword(config, password, { email, name: nameOf(email) });
}

/** Omits characters that people confuse. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/**
 * Creates the first organization and its owner in a fresh instance. Returns the password if it was
 * generated. If an organization exists, does not change anything, and `created` is false.
 */
export async function initialize(ctx: Context, input: Input) {
  requireOperator(ctx);
  const first = await Organization.findOne({ order: ['id'] });
  if (first !== null) return standing(first, input);
  const password = input.password ?? newPassword();
  return transaction(async () => {
    const organization = await createOrganization(ctx, { name: input.organization ?? 'Default' });
    const email = input.owner ?? usualOwner;
    const known = await findByEmail(email);
    const proved = known !== null && isProved(known);
    if (proved && input.password !== undefined)
      throw new Refusal('conflict', `The user ${email} already exists and keeps their password.`, {
        hint: 'Set up again without a password for the owner.',
      });
    const name = nameOf(email);
    if (known === null) await createUser(ctx, { email, name, password });
    else if (!proved) await vouchFor(ctx, known, { name, password });
    await addMember(ctx, { org: organization.id, email, role: 'owner' });
    const shown = proved || input.password !== undefined ? null : password;
    return { created: true, organization, owner: { email, password: shown } };
  });
}

function newPassword(): string {
  return Array.from({ length: 20 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** Takes over an unverified account, and removes its earlier credentials (security I3). */
async function vouchFor(
  ctx: Context,
  account: Account,
  { name, password }: { name: string; password: string },
) {
  await takeOver(ctx, account, { by: 'operator' });
  const passwordHash = await hashNewPassword(ctx, password, account);
  await account.update({
    name,
    passwordHash,
    emailProof: 'operator',
    awaitsCode: false,
    signUpReplacedAt: null,
  });
}

/** Returns the existing organization and owner. Refuses a request that names others. */
async function standing(first: Organization, input: Input) {
  const owner = await ownerOf(first, input.owner);
  const asked = input.organization === undefined || input.organization === first.name;
  if (asked && (owner !== null || input.owner === undefined)) {
    return {
      created: false,
      organization: viewOrganization(first),
      owner: { email: owner?.email ?? null, password: null },
    };
  }
  throw new Refusal('conflict', `This instance already has an organization: ${first.name}.`, {
    hint: [
      { to: 'add an organization', operation: 'org.create' },
      { to: 'add a user', operation: 'user.create' },
      { to: 'add a member', operation: 'member.add' },
    ],
  });
}

/** The owner with this address, or the first owner if no address is given. */
async function ownerOf(organization: Organization, email: string | undefined) {
  const owners = await Membership.findAll({
    where: { organizationId: organization.id, role: 'owner' },
    order: ['joinedAt'],
  });
  const accounts = await Account.findAll({ where: { id: owners.map((owner) => owner.accountId) } });
  if (email !== undefined) return accounts.find((account) => account.email === email) ?? null;
  return accounts.find((account) => account.id === owners[0]?.accountId) ?? null;
}

/** Refuses with `database_unreachable` if the database does not answer. Closes all connections. */
export async function checkConnection(address: Address): Promise<void> {
  const database = await openDatabase(address);
  try {
    await database.ping();
  } catch (error) {
    throw databaseRefusal(error) ?? error;
  } finally {
    await database.close();
  }
}
