import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, isProvedForGood } from '../../../database/models/account.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { counted } from '../../../text/words.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { keptDays, queueErasure } from '../../foundation/events/erase.ts';
import type { EventData } from '../../foundation/events/kinds.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { id } from '../../foundation/fields.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { queueMail } from '../../foundation/mail/queue.ts';
import { operation } from '../../foundation/operation.ts';
import { holdAccount } from '../../people/accounts/account.ts';
import { credentialView, listCredentials } from '../../people/credentials/credentials.ts';
import { requireOwnSession, requireRecentSignIn } from '../../people/two-factor/recent.ts';
import { requireUnmanaged } from '../addresses/managed.ts';
import { holdIfLastOwner } from '../memberships/membership.ts';
import { keepRemovals } from '../memberships/removed.ts';
import { forgetRecords } from '../scim-records/write.sql.ts';

/**
 * Deletes an account with all its data, and frees its address (security O6). Call it inside a
 * transaction, with the account locked.
 */
export async function deleteAccount(
  ctx: Context,
  account: Account,
  data: EventData<'user.deleted'> = {},
): Promise<void> {
  await forgetRecords(ctx, account.id);
  await account.destroy();
  await recordEvent(ctx, { kind: 'user.deleted', ...eventAbout('user', account), data });
}

/** Organizations whose last owner is this account. Locks like `holdIfLastOwner`. */
export async function findLeftOwnerless(accountId: string): Promise<Organization[]> {
  const where = { accountId, role: 'owner' };
  const owned = await Membership.findAll({ where, order: ['organizationId'] });
  const left: Organization[] = [];
  for (const { organizationId } of owned) {
    const organization = await holdIfLastOwner(organizationId, accountId);
    if (organization !== null) left.push(organization);
  }
  return left;
}

/** What is deleted with an account. */
const endedView = z.object({
  id,
  email: z.string().nullable(),
  name: z.string(),
  organizations: z.array(z.object({ id, slug: z.string(), name: z.string() })),
  credentials: z.array(credentialView),
  invitations: z.int().describe('The pending invitations that the person sent.'),
});

/**
 * Deletes the caller's account with all its data, like `deleteUser`, but refuses if an organization
 * would have no owner, or manages the address. The events lose the personal data after 30 days.
 */
export const deleteMe = operation({
  authority: 'me.account',
  input: z.strictObject({}),
  output: endedView,
  ends: {
    ask: () => 'Delete your account?',
    effects: (view) => [
      `It is the account of ${view.email ?? view.name}.`,
      ...lostOrganizations(view),
      ...lostCredentials(view),
      `You cannot undo this. After ${keptDays} days, your name and address are removed from the events about you.`,
    ],
    done: () => 'Your account was deleted.',
  },
  run: (ctx, _input, { accountId }) =>
    transaction(async () => {
      await holdAccount(ctx, accountId);
      const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
      await requireOwnSession(ctx);
      await requireRecentSignIn(ctx, account);
      await requireUnmanaged(ctx, account.email);
      await requireOwners(accountId);
      const ended = await describe(ctx, account);
      await recordLeft(ctx, account);
      await keepRemovals(ctx, account);
      await deleteAccount(ctx, account);
      await queueErasure(ctx, account);
      const { email } = account;
      if (email !== null && isProvedForGood(account) && isMailConfigured(ctx))
        await queueMail(ctx, { about: 'deleted', email });
      return ended;
    }),
});

/** Records in each organization that the person is no longer a member. */
async function recordLeft(ctx: Context, account: Account): Promise<void> {
  const rows = await Membership.findAll({
    where: { accountId: account.id },
    order: ['organizationId'],
  });
  for (const { organizationId, role } of rows) {
    const { name } = await shownIn(organizationId, account);
    const about = eventAbout('user', { id: account.id, name }, organizationId);
    await recordEvent(ctx, { kind: 'member.removed', ...about, data: { role } });
  }
}

async function requireOwners(accountId: string): Promise<void> {
  const slugs = (await findLeftOwnerless(accountId)).map(({ slug }) => slug);
  if (slugs.length === 0) return;
  throw new Refusal('last_owner', `${slugs.join(', ')} would be left without an owner.`, {
    hint: 'Make another member owner first, or delete the organization.',
  });
}

async function describe(ctx: Context, { id: accountId, email, name }: Account) {
  const memberships = await Membership.findAll({
    where: { accountId },
    include: { association: 'organization', required: true },
    order: ['organizationId'],
  });
  return {
    ...{ id: accountId, email, name },
    organizations: memberships.map(({ organization: { id, slug, name } }) => ({ id, slug, name })),
    credentials: await listCredentials(ctx, accountId),
    invitations: await Invitation.count({ where: { invitedBy: accountId, acceptedAt: null } }),
  };
}

type Ended = z.output<typeof endedView>;

function lostOrganizations({ organizations }: Ended): string[] {
  if (organizations.length === 0) return [];
  const names = organizations.map(({ name }) => name).join(', ');
  return [`You lose access to these organizations and their projects: ${names}.`];
}

/** The credentials that are deleted, in words. A password and an authenticator are not listed. */
const names: Partial<Record<Ended['credentials'][number]['kind'], string>> = {
  session: 'session',
  passkey: 'passkey',
  pat: 'access token',
  bot: 'bot token',
  app: 'app',
};

function lostCredentials({ credentials, invitations }: Ended): string[] {
  const ending = credentials.flatMap(({ kind, count }) => {
    const name = names[kind];
    return name === undefined ? [] : [counted(count, name)];
  });
  const sent = invitations === 0 ? [] : [`${counted(invitations, 'invitation')} that you sent`];
  const all = [...ending, ...sent];
  return all.length === 0 ? [] : [`This also deletes: ${all.join(', ')}.`];
}
