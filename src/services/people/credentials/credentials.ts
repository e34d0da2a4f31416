import { type Model, type ModelStatic, Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { idOfInstant } from '../../../crypto/id.ts';
import { deleteOld, type Stop } from '../../../database/delete-batches.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { HostTicket } from '../../../database/models/host-session.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { LoginLink } from '../../../database/models/login-link.ts';
import { MailCode } from '../../../database/models/mail-code.ts';
import { PendingSignIn } from '../../../database/models/pending-sign-in.ts';
import { ProviderRecord } from '../../../database/models/provider-record.ts';
import { RefreshToken } from '../../../database/models/refresh-token.ts';
import { Session } from '../../../database/models/session.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { instant } from '../../foundation/fields.ts';
import { after, refreshIdleSeconds } from '../../foundation/time.ts';
import { discardTotp } from '../accounts/account.ts';
import { deleteRecoveryCodes } from '../codes/recovery-code.ts';
import { deletePasskeys, restrictPasskeys } from '../passkeys/passkey.ts';
import { forgetBrowsers } from '../sessions/browser.ts';
import { endSessions } from '../sessions/end.ts';
import { countCredentials, credentialKinds, ofBot, ofNoSession } from './credentials.sql.ts';

// The only list of tables that contain credentials (security I3). Add a new kind of credential
// here: `endSignIns` and `endCredentials` use this list. Tests compare it with the schema and with
// docs/evidence/kill-matrix.md.

/** The codes, links and pending sign-ins that lead to a session: valid for minutes, and once. */
const steps: Record<string, ModelStatic<Model>> = {
  mail_codes: MailCode,
  login_links: LoginLink,
  pending_sign_ins: PendingSignIn,
};

/** The credentials that the next holder keeps: second factor, identities of an organization. */
interface Kept {
  keepsTotp: boolean;
  organizationId: string | null;
}

/** Credentials that live until they are revoked, and how to revoke each for the next holder. */
const lasting: Record<string, (accountId: string, kept: Kept) => Promise<unknown>> = {
  // Deletes the password, and the authenticator unless it stays.
  accounts: async (id, { keepsTotp }) => {
    await Account.update({ passwordHash: null, passwordUnapproved: false }, { where: { id } });
    if (!keepsTotp) await discardTotp(id);
  },
  // If a passkey stays for the next holder, it must no longer sign the earlier holder in.
  passkeys: (accountId, { keepsTotp }) =>
    keepsTotp ? restrictPasskeys(accountId) : deletePasskeys(accountId),
  // An earlier holder may have copied them, even if the authenticator stays.
  recovery_codes: (accountId) => deleteRecoveryCodes(accountId),
  access_tokens: (accountId) => AccessToken.destroy({ where: { accountId } }),
  apps: (accountId) => OAuthApp.destroy({ where: { accountId } }),
  identities: (accountId, { organizationId }) =>
    Identity.destroy({
      where: {
        accountId,
        [Op.or]: [{ organizationId: null }, { organizationId: { [Op.ne]: organizationId } }],
      },
    }),
  // Unbinds invitations from the earlier holder. Their links stay valid for the next (security O6).
  invitations: (accountId) =>
    Invitation.update({ accountId: null }, { where: { accountId, acceptedAt: null } }),
  // Those that the earlier holder made, who may have kept their URLs.
  setup_links: (accountId) => SetupLink.destroy({ where: { accountId } }),
};

/** The tables with credentials of accounts. Deleting an account deletes all of them by cascade. */
export const accountCredentials = ['sessions', ...Object.keys(steps), ...Object.keys(lasting)];

/**
 * The tables with credentials of a session or an organization. Deleted by cascade, or by the sweep
 * (`provider_records`, which are useless without their session).
 */
export const otherCredentials = [
  'refresh_tokens',
  'scim_tokens',
  'webhooks',
  'clients',
  'host_tickets',
  'host_sessions',
  'provider_records',
];

/** The tables that name an account but do not contain credentials. */
export const withoutCredentials = [
  'account_browsers',
  'memberships',
  'project_memberships',
  'scim_records',
  'scim_replans',
  'tombstones',
];

/** One account, with an optional session (`but`) that continues, or all accounts. */
type Whose = { accountId: string; but?: string | null } | 'everyone';

/** Ends sessions, mailed codes, links and pending sign-ins; returns the number of sessions. */
export async function endSignIns(ctx: Context, whose: Whose): Promise<number> {
  const where = whose === 'everyone' ? {} : { accountId: whose.accountId };
  for (const step of Object.values(steps)) await step.destroy({ where });
  return endSessions(ctx, whose);
}

/** Revokes all credentials of the account except those in `kept`. Call it inside a transaction. */
export async function endCredentials(ctx: Context, accountId: string, kept: Kept): Promise<void> {
  await endSignIns(ctx, { accountId });
  for (const end of Object.values(lasting)) await end(accountId, kept);
  // These are not credentials, but a sign-in from an earlier holder's browser must be announced.
  await forgetBrowsers(accountId);
}

const forever = new Date('9999-12-31');
/**
 * Deletes expired credentials, except personal access tokens: their owners see them in the list.
 */
export async function sweepCredentials({ now }: Context, stop: Stop): Promise<void> {
  const expired = { column: 'expires_at', before: now };
  for (const step of Object.values(steps)) await deleteOld(step, expired, stop);
  // A refresh token that was created before this has expired; ids are ordered by time.
  const made = idOfInstant(after(now, -refreshIdleSeconds).getTime());
  const old = { column: 'id', before: made, and: expired };
  await deleteOld(RefreshToken, old, stop);
  // A session can have 1,400 refresh tokens, which are deleted with it.
  await deleteOld(Session, { ...expired, batch: 20 }, stop);
  await deleteOld(ProviderRecord, expired, stop);
  await deleteOld(ProviderRecord, { ...expired, before: forever, also: ofNoSession }, stop);
  await deleteOld(HostTicket, expired, stop);
  await deleteOld(Invitation, expired, stop);
  await deleteOld(SetupLink, expired, stop);
  await deleteOld(AccessToken, { ...expired, also: ofBot }, stop);
}

/** One kind of credential of an account. */
export const credentialView = z.object({
  kind: z.enum(credentialKinds),
  organization: z
    .string()
    .nullable()
    .describe('For an identity: the organization, or the social provider.'),
  count: z.number().int(),
  first: instant.nullable().describe('When the oldest was created; null for a password.'),
  last: instant.nullable().describe('When the newest was created; null for a password.'),
});

/** Lists the credentials of the account, one line per kind, organization and social provider. */
export async function listCredentials(
  ctx: Context,
  accountId: string,
): Promise<z.output<typeof credentialView>[]> {
  const rows = await countCredentials(accountId, ctx.now);
  return rows
    .filter(({ count }) => count > 0)
    .map(({ kind, organization, count, first, last }) => ({
      kind,
      organization,
      count,
      first: first?.toISOString() ?? null,
      last: last?.toISOString() ?? null,
    }));
}
