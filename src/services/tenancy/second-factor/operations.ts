import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { requireSecondFactorIfAny } from '../../foundation/authority/second-factor.ts';
import { ownsAddress } from '../../foundation/domain-names/owns.ts';
import { sessionsEnding } from '../../foundation/ending.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { ref, userRef } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import { factorsGone, removeFactors } from '../../people/two-factor/removal.ts';
import { belongsElsewhere } from '../identities/identities.sql.ts';
import { holdMembership, memberView, viewMember } from '../memberships/membership.ts';
import { hasWayIn } from '../signin-settings/ways.ts';

const factorResetView = memberView.extend({
  authenticatorRemoved: z.boolean(),
  passkeysRemoved: z.int(),
  sessionsEnded: z.int(),
  told: z.boolean().describe('Whether the person is notified by mail.'),
});

/**
 * Removes the authenticator app, passkeys and recovery codes of a member who lost them, and ends
 * the sessions (security O14). Does not set a credential. Refuses with `operator_needed` unless the
 * account is on a verified domain of the organization, belongs to no other organization and has
 * another way to sign in.
 */
export const resetMemberFactor = operation({
  authority: 'members.resetFactor',
  input: z.strictObject({ org: ref, user: userRef }),
  output: factorResetView,
  ends: {
    ask: (view) => `Remove ${factorsGone(view)} of ${nameOf(view)}?`,
    effects: (view) => ['Recovery codes end too.', ...sessionsEnding(view)],
    done: (view) => [
      `Removed ${factorsGone(view)} of ${nameOf(view)}.`,
      ...(view.told ? [] : ['No mail is sent to the person, so tell them yourself.']),
    ],
  },
  run: async (ctx, input, standing) => {
    const { organization } = standing;
    await requireSecondFactorIfAny(ctx);
    return transaction(async () => {
      const { membership, account, shown } = await holdMembership(organization, input.user);
      requireRank(ctx, standing, membership);
      const byOperator = standing.role === 'operator';
      if (!byOperator && !(await canBeHelped(ctx, organization.id, account)))
        throw operatorNeeded(account);
      if (!hasSecondFactor(account)) {
        throw new Refusal(
          'conflict',
          `${nameOf(shown)} has no second factor. Nothing was changed.`,
        );
      }
      const accountId = account.id;
      const passkeys = await Passkey.findAll({ where: { accountId }, order: ['id'] });
      const removed = {
        ...(await removeFactors(ctx, account, passkeys)),
        sessionsEnded: await endSignIns(ctx, { accountId }),
      };
      const by = byOperator ? null : organization.name;
      const told = await notify(ctx, account, { what: 'second-factor-reset', by });
      await recordEvent(ctx, {
        kind: 'member.second_factor.reset',
        ...eventAbout('user', { id: account.id, name: shown.name }, organization.id),
        data: removed,
      });
      return { ...viewMember(membership, shown), ...removed, told };
    });
  },
});

/** Only an owner can reset the factor of an admin or another owner. No one can reset their own. */
function requireRank({ actor }: Context, { role }: Standing, { accountId, role: of }: Membership) {
  if (actor.kind === 'user' && actor.accountId === accountId) {
    throw new Refusal('conflict', 'You cannot reset your own second factor.', {
      hint: 'Change it on your account page. If you cannot use it there, ask another owner.',
    });
  }
  if (of === 'member' || role !== 'admin') return;
  throw new Refusal('forbidden', `Only an owner may do this for an ${of}.`, {
    hint: 'Ask an owner of the organization.',
  });
}

/**
 * Whether the organization can reset the factor: the account is on its verified domain, in no other
 * organization, and keeps a way in (security O14). An account without a factor loses nothing.
 */
async function canBeHelped(
  ctx: Context,
  organizationId: string,
  account: Account,
): Promise<boolean> {
  const trusted = ctx.config.trust.domains === 'off' && account.email !== null;
  if (!trusted && !(await ownsAddress(organizationId, account.email))) return false;
  if (await belongsElsewhere(ctx, account.id, organizationId)) return false;
  return !hasSecondFactor(account) || hasWayIn(ctx, account, { without: 'all' });
}

// The same text for every reason: it must not reveal whether the account belongs to another
// organization.
function operatorNeeded({ id, email }: Account): Refusal {
  return new Refusal('operator_needed', 'Only the operator can reset this second factor.', {
    hint: [
      'An organization can do it for a person who has an address on its verified domain, belongs to no other organization and can sign in another way.',
      {
        to: 'reset it',
        operation: 'user.remove-factors',
        with: { user: email ?? id },
        by: 'operator',
      },
    ],
  });
}

function nameOf({ email, name }: { email: string | null; name: string }): string {
  return email ?? name;
}

/**
 * The name of the organization whose owners can reset the second factor of the account; null if only
 * the operator can.
 */
export async function findHelper(ctx: Context, account: Account): Promise<string | null> {
  const { id: accountId } = account;
  const memberships = await Membership.findAll({ where: { accountId }, limit: 2 });
  const [membership] = memberships;
  if (membership === undefined || memberships.length > 1) return null;
  const { organizationId } = membership;
  if (!(await canBeHelped(ctx, organizationId, account))) return null;
  const others = await Membership.count({
    where: { organizationId, role: 'owner', accountId: { [Op.ne]: accountId } },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
  });
  if (others === 0) return null;
  return (await Organization.findByPk(organizationId))?.name ?? null;
}
