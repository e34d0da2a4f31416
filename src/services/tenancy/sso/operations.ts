import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { parse } from '../../../input.ts';
import { shellWord } from '../../../shell-word.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { findAffected } from './affected.ts';
import {
  requireSameClient,
  requireSsoConnection,
  sealClientSecret,
  ssoDisabledView,
  ssoRemovedView,
  ssoSettingsOf,
  ssoView,
  viewSso,
} from './connection.ts';
import { changeSsoInput, saveSsoInput } from './schema.ts';

// The single sign-on connection of an organization (spec §2.2).

const refInput = z.strictObject({ org: ref });

/** Shows the connection, without its secret. */
export const showSso = operation({
  authority: 'sso.see',
  input: refInput,
  output: ssoView,
  run: async (ctx, _input, { organization }) =>
    viewSso(ctx, await requireSsoConnection(organization)),
});

/**
 * Saves all settings. Enabling needs a verified domain; saving does not. A blank secret keeps the
 * stored secret, but only for the same issuer and client (security S10).
 */
export const saveSso = operation({
  authority: 'sso.change',
  input: saveSsoInput,
  output: ssoView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      await requireNotTaken(organization, input.emailDomain);
      if (input.enabled) await requireTrustedDomain(ctx, organization, input.emailDomain);
      const stored = await findLocked(organization);
      const { org: _, clientSecret: __, ...settings } = input;
      const id = stored?.id ?? orderedId();
      const values = { ...settings, clientSecret: secretToStore(ctx, input, id, stored) };
      const writing =
        stored === null
          ? SsoConnection.create({
              id,
              organizationId: organization.id,
              createdAt: ctx.now,
              ...values,
            })
          : stored.update(values);
      const connection = await refusingDuplicate(writing, domainInUse(input.emailDomain));
      await recordEvent(ctx, {
        kind: 'sso.saved',
        ...about(connection),
        data: { issuer: input.issuer, clientId: input.clientId, enabled: input.enabled },
      });
      return viewSso(ctx, connection);
    }),
});

function findLocked({ id: organizationId }: Organization): Promise<SsoConnection | null> {
  return SsoConnection.findOne({ where: { organizationId }, lock: true });
}

async function requireNotTaken(organization: Organization, emailDomain: string): Promise<void> {
  const holder = await Domain.findOne({
    where: { name: emailDomain, state: 'Verified', organizationId: { [Op.ne]: organization.id } },
  });
  if (holder === null) return;
  throw new Refusal('domain_taken', `${emailDomain} is verified by another organization.`, {
    hint: 'Use a domain of your own; a verified domain belongs to exactly one organization.',
  });
}

function secretToStore(
  ctx: Context,
  input: z.output<typeof saveSsoInput>,
  id: string,
  stored: SsoConnection | null,
): string {
  if (input.clientSecret) return sealClientSecret(ctx, id, input.clientSecret);
  if (stored === null)
    throw refuseField('clientSecret', 'is required', 'Give the secret that the provider issued.');
  requireSameClient(stored, input);
  return stored.clientSecret;
}

/** Refuses a connection for a domain that the organization has not verified (security I2). */
async function requireTrustedDomain(
  ctx: Context,
  organization: Organization,
  emailDomain: string | null,
): Promise<void> {
  if (emailDomain === null) {
    throw new Refusal(
      'domain_unverified',
      'Another organization has verified the domain of this connection.',
      { hint: 'Save the connection with a domain of your own.' },
    );
  }
  if (ctx.config.trust.domains === 'off') return;
  if ((await findVerified(organization.id, emailDomain)) !== null) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified ${emailDomain}.`, {
    hint: `Verify it first: idctl domain add ${shellWord(emailDomain)} --org ${shellWord(organization.slug)}, then idctl domain verify ${shellWord(emailDomain)} --org ${shellWord(organization.slug)}`,
  });
}

/** The refusal of a second enabled connection for one e-mail domain (spec §2.2). */
const domainInUse = (emailDomain: string | null) => ({
  code: 'domain_taken' as const,
  message: `Another organization has an enabled connection for ${emailDomain}.`,
  hint: 'Use another domain. An e-mail domain can have only one enabled connection.',
});

/** Saves the given settings. An absent setting keeps its value, or gets its default. */
export const changeSso = operation({
  authority: 'sso.change',
  input: changeSsoInput,
  output: ssoView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const stored = await findLocked(organization);
      return saveSso(
        ctx,
        parse(saveSsoInput, { ...(stored === null ? {} : ssoSettingsOf(stored)), ...input }),
      );
    }),
});

/** Enables the connection, which needs a verified domain (security I2). */
export const enableSso = operation({
  authority: 'sso.change',
  input: refInput,
  output: ssoView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireSsoConnection(organization);
      if (connection.enabled) return viewSso(ctx, connection);
      await requireTrustedDomain(ctx, organization, connection.emailDomain);
      await refusingDuplicate(
        connection.update({ enabled: true }),
        domainInUse(connection.emailDomain),
      );
      await recordEvent(ctx, { kind: 'sso.enabled', ...about(connection) });
      return viewSso(ctx, connection);
    }),
});

/** Stops new sign-ins through the connection; sessions continue. Returns the affected people. */
export const disableSso = operation({
  authority: 'sso.change',
  input: refInput,
  output: ssoDisabledView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireSsoConnection(organization);
      const affected = await findAffected(connection);
      if (connection.enabled) {
        await connection.update({ enabled: false });
        const data = { owners: affected.owners };
        await recordEvent(ctx, { kind: 'sso.disabled', ...about(connection), data });
      }
      return { ...viewSso(ctx, connection), ...affected };
    }),
});

/**
 * Removes the connection and ends the sessions that began through it. Accounts and memberships
 * stay. The keys stay as former ones, so that a new connection does not link the accounts to other
 * subjects (security I1).
 */
export const removeSso = operation({
  authority: 'sso.change',
  input: refInput,
  output: ssoRemovedView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireSsoConnection(organization);
      const affected = await findAffected(connection);
      // This waits for sign-ins in progress, whose sessions end too.
      await connection.destroy();
      const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
      const data = { owners: affected.owners, sessionsEnded };
      await recordEvent(ctx, { kind: 'sso.removed', ...about(connection), data });
      return { ...viewSso(ctx, connection), enabled: false, ...affected, sessionsEnded };
    }),
});

function about({ id, organizationId, emailDomain, issuer }: SsoConnection) {
  return { organizationId, subject: { type: 'sso', id, name: emailDomain ?? issuer } };
}
