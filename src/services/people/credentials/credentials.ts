import { Op, type WhereOptions } from 'sequelize';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { LoginLink } from '../../../database/models/login-link.ts';
import { MailCode } from '../../../database/models/mail-code.ts';
import { PendingSignIn } from '../../../database/models/pending-sign-in.ts';
import { Session } from '../../../database/models/session.ts';
import { endSessions } from '../sessions/end.ts';
import { discardTotp } from '../two-factor/discard.ts';

// The one list of tables that hold credentials (security I3). Add a new kind of credential here:
// all code that ends credentials uses this list. Tests compare the schema and the kill matrix with
// it.

type Remove = (where: WhereOptions) => Promise<number>;

/** Steps on the way to a session: valid for minutes, and once. */
const steps: Record<string, Remove> = {
  mail_codes: (where) => MailCode.destroy({ where }),
  login_links: (where) => LoginLink.destroy({ where }),
  pending_sign_ins: (where) => PendingSignIn.destroy({ where }),
};

/**
 * The parts that the next holder keeps: the second factor, and the identities of the organization's
 * own connections.
 */
interface Kept {
  keepsTotp: boolean;
  organizationId: string | null;
}

/**
 * Credentials that live until they are revoked, and how each ends for the next holder of the
 * account.
 */
const lasting: Record<string, (accountId: string, kept: Kept) => Promise<unknown>> = {
  // The password and the second factor.
  accounts: async (id, { keepsTotp }) => {
    await Account.update({ passwordHash: null }, { where: { id } });
    if (!keepsTotp) await discardTotp(id);
  },
  access_tokens: (accountId) => AccessToken.destroy({ where: { accountId } }),
  apps: (accountId) => OAuthApp.destroy({ where: { accountId } }),
  identities: (accountId, { organizationId }) =>
    Identity.destroy({
      where: {
        accountId,
        [Op.or]: [{ organizationId: null }, { organizationId: { [Op.ne]: organizationId } }],
      },
    }),
  // An earlier holder's acceptance ends; the link stays valid for the next holder (security O6).
  invitations: (accountId) =>
    Invitation.update({ accountId: null }, { where: { accountId, acceptedAt: null } }),
};

/**
 * The tables with credentials of accounts. All but `accounts` reference the account and are deleted
 * by cascade.
 */
export const accountCredentials = ['sessions', ...Object.keys(steps), ...Object.keys(lasting)];

/**
 * The other tables with credentials: of a session, and of an organization. They are deleted by
 * cascade.
 */
export const otherCredentials = ['refresh_tokens', 'scim_tokens', 'webhooks'];

/** The tables that name an account and hold no credential. */
export const withoutCredentials = [
  'memberships',
  'project_memberships',
  'scim_records',
  'tombstones',
];

/**
 * One account, with an optional session (`but`) that may go on, or all accounts of the instance.
 */
type Whose = { accountId: string; but?: string | null } | 'everyone';

/**
 * Ends the sessions and the steps on the way to one; returns how many sessions. Call it inside a
 * transaction.
 */
export async function endSignIns(ctx: Context, whose: Whose): Promise<number> {
  const where = whose === 'everyone' ? {} : { accountId: whose.accountId };
  for (const remove of Object.values(steps)) await remove(where);
  return endSessions(ctx, whose);
}

/** Ends every credential of the account except those in `kept`. Call it inside a transaction. */
export async function endCredentials(ctx: Context, accountId: string, kept: Kept): Promise<void> {
  await endSignIns(ctx, { accountId });
  for (const end of Object.values(lasting)) await end(accountId, kept);
}

/** Deletes expired credentials, except personal tokens, which their owners see in their list. */
export async function sweepCredentials({ now }: Context): Promise<void> {
  const where = { expiresAt: { [Op.lt]: now } };
  for (const remove of Object.values(steps)) await remove(where);
  await Session.destroy({ where });
  await Invitation.destroy({ where });
  await AccessToken.destroy({ where: { kind: 'bot', ...where } });
}
