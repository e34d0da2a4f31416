import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { email, ref, role } from '../../foundation/fields.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { operation } from '../../foundation/operation.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import { listCredentials } from '../../people/credentials/credentials.ts';
import { isToReclaim, reclaimMember } from '../identities/reclaim.ts';
import { joinOrganization } from './join-and-leave.ts';
import { byHand, isMember, memberView, rightToGrant, viewMember } from './membership.ts';

const addInput = z.strictObject({ org: ref, email, role });

/** Whether to remove or keep credentials if the account's address is not proved (security I3). */
const fate = z.enum(['end', 'keep']);

type Adding = z.output<typeof addInput> & { credentials?: z.output<typeof fate> | undefined };

/**
 * Adds an existing account to the organization, even a former member (security I5). Refuses with
 * `invite_instead` for an address on a domain that the organization has not verified (security O8).
 */
export const addMember = operation({
  authority: 'members.change',
  prove: (ctx, input) => requireAuthority(ctx, rightToGrant(input.role), input.org),
  letsIn: () => true,
  input: addInput,
  output: memberView,
  run: (ctx, input, { organization }) => add(ctx, organization, input),
});

/** Like `addMember`, for the operator, who decides what happens to the account's credentials. */
export const addMemberAsOperator = operation({
  authority: 'operator',
  input: addInput.extend({ credentials: fate.optional() }),
  output: memberView,
  run: async (ctx, input) => {
    const { organization } = await requireAuthority(ctx, rightToGrant(input.role), input.org);
    return add(ctx, organization, input);
  },
});

async function add(ctx: Context, organization: Organization, input: Adding) {
  const added = await transaction(async () => {
    if (!(await mayAddDirectly(ctx, organization, input.email))) return null;
    const account = await findByEmail(input.email);
    if (account === null) {
      throw new Refusal('not_found', `There is no user ${input.email}.`, {
        hint: {
          say: 'The operator can create one',
          operation: 'user.create',
          with: { email: input.email },
        },
      });
    }
    await reclaimAdded(ctx, account, organization.id, input.credentials);
    const membership = await joinOrganization(ctx, organization, account, {
      role: input.role,
      origin: byHand(ctx.actor),
    });
    return viewMember(membership, await shownIn(organization.id, account));
  });
  // This is outside the transaction, so that a rollback does not undo the count.
  if (added === null) throw await inviteInstead(ctx, organization);
  return added;
}

/**
 * Whether the actor may add this address directly. The operator may add any address. Others may add
 * only addresses on verified domains, unless `trust.domains` is off (security O8). A verified
 * domain cannot be removed until the transaction ends.
 */
async function mayAddDirectly(
  { actor, config }: Context,
  organization: Organization,
  address: string,
): Promise<boolean> {
  const isVerified = (await findVerified(organization.id, domainOf(address))) !== null;
  return isVerified || actor.kind === 'operator' || config.trust.domains === 'off';
}

const maxPerHour = 60;

/**
 * The refusal of an address that must be invited: the same with and without an account. After sixty
 * in an hour, an actor gets `too_many_requests`, and so cannot probe many addresses.
 */
async function inviteInstead(ctx: Context, { slug }: Organization): Promise<Refusal> {
  const { actor } = ctx;
  if (actor.kind === 'user') {
    const limit = { name: 'invite instead', of: actor.accountId, max: maxPerHour, seconds: 3600 };
    const message = `You tried to add more than ${maxPerHour} addresses on other domains within an hour.`;
    await transaction(() => requirePlace(ctx, limit, message));
  }
  return new Refusal('invite_instead', `This address is not on a verified domain of ${slug}.`, {
    hint: { say: 'Invite it instead', operation: 'invitation.create', with: { org: slug } },
  });
}

/**
 * Removes the credentials of an earlier holder from an account that is about to become a member
 * (security I3). The operator may keep the credentials. Reloads `account` if it removes them.
 */
async function reclaimAdded(
  ctx: Context,
  account: Account,
  organizationId: string,
  credentials: Adding['credentials'],
): Promise<void> {
  // A code may verify the address in the meantime.
  const held = await hold.account(account.id);
  if (held === null || (await isMember(organizationId, held.id))) return;
  if (!(await isToReclaim(ctx, held, organizationId))) return;
  if (ctx.actor.kind === 'operator') {
    if (credentials === 'keep') return;
    const found = credentials === undefined ? await listCredentials(ctx, held.id) : [];
    if (found.length > 0) throw fateUnsaid(account);
  }
  await reclaimMember(ctx, held, organizationId, { name: null });
  await account.reload();
}

function fateUnsaid(account: Account) {
  return refuseField(
    '--yes or --keep-credentials',
    `the account ${account.email} has credentials, but its address has no valid verification`,
    {
      technical:
        'With --yes, idctl removes the credentials before the account becomes a member. With --keep-credentials, it keeps them.',
    },
  );
}

/** Lists the credentials that `member add` would remove; none if the address is proved. */
export const findUnproven = operation({
  authority: 'operator',
  input: addInput,
  run: async (ctx, input) => {
    const { organization } = await requireAuthority(ctx, 'members.change', input.org);
    const account = await findByEmail(input.email);
    if (account === null || (await isMember(organization.id, account.id))) return [];
    return (await isToReclaim(ctx, account, organization.id))
      ? listCredentials(ctx, account.id)
      : [];
  },
});
