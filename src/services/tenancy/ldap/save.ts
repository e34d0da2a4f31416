import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Domain } from '../../../database/models/domain.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import {
  requireAuthority,
  requireStill,
  type Standing,
} from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { approvalAfter, type Named } from '../connections/approval.ts';
import { requireKeptByLink } from '../connections/by-link.ts';
import { aboutLdap, sealBindPassword, whereLdapPoints } from '../connections/ldap.ts';
import { keepOwnersIn } from '../signin-settings/owners.ts';
import { requireEncryption, requireSameServer, viewLdap } from './connection.ts';
import type { saveLdapInput } from './schema.ts';

/** Saves the section of a document. Call it inside the transaction of the apply. */
export async function applyLdap(
  ctx: Context,
  input: z.output<typeof saveLdapInput>,
): Promise<void> {
  const standing = await requireAuthority(ctx, 'ldap.change', input.org);
  await writeLdap(ctx, standing, input, 'applied');
}

/** Saves all settings. Call it inside a transaction. */
export async function writeLdap(
  ctx: Context,
  standing: Standing,
  input: z.output<typeof saveLdapInput>,
  named: Named,
) {
  const { organization } = standing;
  requireEncryption(ctx, input);
  if (input.enabled) await requireAnyDomain(ctx, organization);
  const stored = await findLocked(organization);
  requireKeptByLink(ctx, stored, input, ['groupsAttribute']);
  const { org: _, ...settings } = input;
  const id = stored?.id ?? orderedId();
  const approval = await approvalAfter(ctx, standing, stored, {
    before: stored && whereLdapPoints(stored),
    after: whereLdapPoints(settings),
    enabled: input.enabled,
    named,
  });
  const bindPassword = passwordToStore(ctx, input, id, stored);
  const values = { ...settings, ...approval, bindPassword };
  const made = { id, organizationId: organization.id, createdAt: ctx.now };
  const write = () =>
    stored === null ? LdapConnection.create({ ...made, ...values }) : stored.update(values);
  const losesApproval = stored?.approved === true && !approval.approved;
  const otherwise = 'An owner can make this change after signing in.';
  const writing = losesApproval ? keepOwnersIn(ctx, organization, write, { otherwise }) : write();
  const connection = await refusingDuplicate(writing, {
    code: 'conflict',
    message: 'Another admin has just saved a connection of this organization.',
    hint: 'Check the connection, then save again.',
  });
  const { bindDn, tls, enabled, approved } = connection;
  const data = { bindDn, tls, enabled, approved };
  await recordEvent(ctx, { kind: 'ldap.saved', ...aboutLdap(connection), data });
  await requireStill(ctx, 'ldap.change', organization);
  return viewLdap(connection);
}

/** The stored connection, locked until the transaction ends; null if there is none. */
export function findLocked({ id: organizationId }: Organization): Promise<LdapConnection | null> {
  return hold.ldap({ organizationId }, 'whole');
}

function passwordToStore(
  ctx: Context,
  input: z.output<typeof saveLdapInput>,
  id: string,
  stored: LdapConnection | null,
): string {
  if (input.bindPassword) return sealBindPassword(ctx, id, input.bindPassword);
  const hint = 'Give the password of the bind DN.';
  if (stored === null) throw refuseField('bindPassword', 'is required', hint);
  requireSameServer(stored, input);
  return stored.bindPassword;
}

/**
 * Refuses to enable a directory without a verified domain: every sign-in would be refused (security
 * I2).
 */
export async function requireAnyDomain(ctx: Context, organization: Organization): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const verified = await Domain.count({
    where: { organizationId: organization.id, state: 'Verified' },
  });
  if (verified > 0) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified any domain.`, {
    hint: [
      'People sign in with addresses on verified domains.',
      { say: 'Verify one first', operation: 'domain.add', with: { org: organization.slug } },
      { say: 'then', operation: 'domain.verify', with: { org: organization.slug } },
    ],
  });
}

/** The approval after the connection is switched on or off. */
export function switchApproval(
  ctx: Context,
  standing: Standing,
  connection: LdapConnection,
  enabled: boolean,
) {
  const at = whereLdapPoints(connection);
  return approvalAfter(ctx, standing, connection, { before: at, after: at, enabled, named: [] });
}
