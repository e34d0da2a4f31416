import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { counted } from '../../../text/words.ts';
import { requireOperator, requireUser } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { name, organizationSlug, ref, slugOf } from '../../foundation/fields.ts';
import { accountCaps } from '../../foundation/limits/caps.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readPage, readRows } from '../../foundation/page.ts';
import { forgetProofs, holdAccount } from '../../people/accounts/account.ts';
import { endVouchedTokens } from '../../people/apps/app.ts';
import {
  endSessions,
  endSessionsPastSecondFactor,
  ownSessionOf,
} from '../../people/sessions/end.ts';
import { marksOf } from '../../people/tokens/token.ts';
import { addMembership } from '../memberships/join-and-leave.ts';
import { recordMember } from '../scim-records/member.ts';
import { organizationDeletedView, organizationView, viewOrganization } from './view.ts';

const refInput = z.strictObject({ org: ref });

/** Lists the caller's organizations with the caller's role in each. The operator gets all. */
export const listOrganizations = operation({
  authority: 'organizations.list',
  prove: (ctx) =>
    ctx.actor.kind === 'operator' ? null : requireUser(ctx, 'organizations.list').accountId,
  input: z.strictObject(pageInput),
  output: pageOf(organizationView),
  run: (_ctx, input, accountId) => {
    if (accountId === null)
      return readRows(Organization, {}, input, (row) => viewOrganization(row));
    return readPage(
      input,
      (after, limit) =>
        Membership.findAll({
          where: { accountId, organizationId: { [Op.gt]: after } },
          include: { model: Organization, as: 'organization', required: true },
          order: ['organizationId'],
          limit,
        }),
      (row) => row.organizationId,
      (row) => viewOrganization(row.organization, row.role),
    );
  },
});

/** Shows one organization to its members and the operator. */
export const showOrganization = operation({
  authority: 'organization.see',
  input: refInput,
  output: organizationView,
  run: async (_ctx, _input, { organization, role }) => viewOrganization(organization, role),
});

/**
 * Creates an organization. A person who creates it becomes its owner. Refuses with `already_exists`
 * for a taken slug.
 */
export const createOrganization = operation({
  authority: 'organizations.create',
  prove: requireCreator,
  input: z.strictObject({ name, slug: organizationSlug.optional() }),
  output: organizationView,
  run: async (ctx, input, creator) => {
    const short = input.slug ?? slugOf(input.name, organizationSlug);
    const organization = await transaction(async () => {
      if (creator !== null) {
        await requireApproved(ctx, creator);
        await requireRoomOfCreator(ctx, creator);
      }
      const times = { createdAt: ctx.now, createdBy: creator };
      const row = { id: orderedId(), slug: short, name: input.name, ...times };
      const made = await refusingDuplicate(Organization.create(row), {
        message: `The organization ${short} already exists.`,
        hint: { technical: 'Choose another short name with --slug (or `slug`).' },
      });
      if (creator !== null) await makeOwner(ctx, made.id, creator);
      await recordEvent(ctx, {
        kind: 'organization.created',
        ...eventAbout('organization', made, made.id),
      });
      return made;
    });
    return viewOrganization(organization, creator === null ? 'operator' : 'owner');
  },
});

/** Limits the organizations of an account, and those that it creates a day (security O15). */
async function requireRoomOfCreator(ctx: Context, createdBy: string): Promise<void> {
  const { organizations: max, organizationsADay } = accountCaps;
  if ((await Organization.count({ where: { createdBy } })) >= max)
    throw new Refusal('cap_reached', `An account can have created at most ${max} organizations.`, {
      hint: 'Delete one of them, or ask the operator to create this one.',
      extra: { cap: 'organizations', most: max },
    });
  const limit = { name: 'organizations', of: createdBy, max: organizationsADay, seconds: 86_400 };
  await requirePlace(
    ctx,
    limit,
    `An account can create at most ${organizationsADay} organizations a day.`,
  );
}

function requireCreator(ctx: Context): string | null {
  if (ctx.config.orgs.creation === 'anyone' && ctx.actor.kind !== 'operator')
    return requireUser(ctx, 'organizations.create').accountId;
  requireOperator(ctx);
  return null;
}

/** Locks the account. Refuses a caller who came through an unapproved connection (security I8). */
async function requireApproved(ctx: Context, accountId: string): Promise<void> {
  await holdAccount(ctx, accountId);
  if (!(await marksOf(ctx)).unapproved) return;
  const message = 'You signed in through a connection that no owner had approved then.';
  throw new Refusal('recent_sign_in_required', message, {
    hint: 'Ask an owner to approve the connection, and sign in again. Or sign in another way.',
    // Confirming this session would not help.
    extra: { methods: [] },
  });
}

async function makeOwner(ctx: Context, organizationId: string, accountId: string): Promise<void> {
  const origin = { kind: 'manual' as const, by: accountId };
  // A new organization has not removed anyone, so the address does not matter.
  const person = { id: accountId, email: null };
  await addMembership(ctx, organizationId, person, { role: 'owner', origin });
  await endSessionsPastSecondFactor(ctx, accountId, ownSessionOf(ctx.actor));
  await endVouchedTokens(ctx, accountId, organizationId);
  await recordMember(
    ctx,
    organizationId,
    await Account.findByPk(accountId, { rejectOnEmpty: true }),
  );
}

/** Renames the organization; its slug stays, so that links to it stay valid. */
export const renameOrganization = operation({
  authority: 'organization.rename',
  input: z.strictObject({ org: ref, name }),
  output: organizationView,
  run: async (ctx, input, { organization, role }) => {
    const from = organization.name;
    await transaction(async () => {
      await organization.update({ name: input.name });
      await recordEvent(ctx, {
        kind: 'organization.renamed',
        ...eventAbout('organization', { id: organization.id, name: input.name }, organization.id),
        data: { from },
      });
    });
    return viewOrganization(organization, role);
  },
});

/** Deletes the organization with its memberships, domains and connections; the accounts stay. */
export const deleteOrganization = operation({
  authority: 'organization.delete',
  input: refInput,
  output: organizationDeletedView,
  ends: {
    ask: ({ name, members }) => `Delete ${name} (${counted(members, 'member')})?`,
    done: ({ name }) => `Deleted ${name}.`,
  },
  run: (ctx, _input, { organization, role }) =>
    transaction(async () => {
      const organizationId = organization.id;
      // These locks wait for sign-ins in progress.
      const verified = await hold.domains({ organizationId, state: 'Verified' }, 'whole');
      await hold.sso({ organizationId }, 'whole');
      await hold.ldap({ organizationId }, 'whole');
      await hold.accountsOf(organizationId);
      for (const domain of verified) await forgetProofs(domain.name);
      await hold.again(organization, 'whole');
      const members = await Membership.count({ where: { organizationId } });
      await endSessions(ctx, { organizationId });
      await organization.destroy();
      // This repeats the call above, for accounts whose addresses were proved in the meantime.
      for (const domain of verified) await forgetProofs(domain.name);
      const about = eventAbout('organization', organization, organizationId);
      await recordEvent(ctx, { kind: 'organization.deleted', ...about, data: { members } });
      return { ...viewOrganization(organization, role), members };
    }),
});
