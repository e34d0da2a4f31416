import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Domain } from '../../../database/models/domain.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { parse } from '../../../input.ts';
import { shellWord } from '../../../shell-word.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { freeAccounts } from '../identities/operations.ts';
import { findAffected } from '../sso/affected.ts';
import {
  directorySettingsOf,
  ldapDisabledView,
  ldapRelinkedView,
  ldapRemovedView,
  ldapView,
  requireDirectory,
  requireEncryption,
  requireSameServer,
  sealBindPassword,
  viewLdap,
} from './connection.ts';
import { changeLdapInput, saveLdapInput } from './schema.ts';

// The LDAP connection of an organization (spec §2.5).

const refInput = z.strictObject({ org: ref });

/** Shows the connection, without its password. */
export const showLdap = operation({
  authority: 'ldap.see',
  input: refInput,
  output: ldapView,
  run: async (_ctx, _input, { organization }) => viewLdap(await requireDirectory(organization)),
});

/**
 * Saves all settings of the organization's directory. A blank bind password keeps the stored one,
 * but only for the same server, CA certificate, bind DN and TLS mode (security S10).
 */
export const saveLdap = operation({
  authority: 'ldap.change',
  input: saveLdapInput,
  output: ldapView,
  run: async (ctx, input, { organization }) => {
    requireEncryption(ctx, input);
    return transaction(async () => {
      if (input.enabled) await requireAnyDomain(ctx, organization);
      const stored = await findLocked(organization);
      const { org: _, ...settings } = input;
      const id = stored?.id ?? orderedId();
      const values = { ...settings, bindPassword: passwordToStore(ctx, input, id, stored) };
      const writing =
        stored === null
          ? LdapConnection.create({
              id,
              organizationId: organization.id,
              createdAt: ctx.now,
              ...values,
            })
          : stored.update(values);
      const connection = await refusingDuplicate(writing, {
        code: 'conflict',
        message: 'Another admin has just saved a connection of this organization.',
        hint: 'Check the connection, then save again.',
      });
      await recordEvent(ctx, {
        kind: 'ldap.saved',
        ...about(connection),
        data: { bindDn: input.bindDn, tls: input.tls, enabled: input.enabled },
      });
      return viewLdap(connection);
    });
  },
});

function findLocked({ id: organizationId }: Organization): Promise<LdapConnection | null> {
  return LdapConnection.findOne({ where: { organizationId }, lock: true });
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

/** Refuses to enable a directory without a verified domain: no sign-in could work (security I2). */
async function requireAnyDomain(ctx: Context, organization: Organization): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const verified = await Domain.count({
    where: { organizationId: organization.id, state: 'Verified' },
  });
  if (verified > 0) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified any domain.`, {
    hint: `People sign in with addresses on verified domains. Verify one first: idctl domain add DOMAIN --org ${shellWord(organization.slug)}, then idctl domain verify DOMAIN --org ${shellWord(organization.slug)}`,
  });
}

/** Saves the given settings. An absent setting keeps its value, or gets its default. */
export const changeLdap = operation({
  authority: 'ldap.change',
  input: changeLdapInput,
  output: ldapView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const stored = await findLocked(organization);
      const before =
        stored === null ? {} : { ...directorySettingsOf(stored), enabled: stored.enabled };
      return saveLdap(ctx, parse(saveLdapInput, { ...before, ...input }));
    }),
});

/** Enables sign-in through the directory, which needs a verified domain (security I2). */
export const enableLdap = operation({
  authority: 'ldap.change',
  input: refInput,
  output: ldapView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireDirectory(organization);
      if (connection.enabled) return viewLdap(connection);
      await requireAnyDomain(ctx, organization);
      await connection.update({ enabled: true });
      await recordEvent(ctx, { kind: 'ldap.enabled', ...about(connection) });
      return viewLdap(connection);
    }),
});

/** Stops new sign-ins through the directory; sessions continue. Returns the affected people. */
export const disableLdap = operation({
  authority: 'ldap.change',
  input: refInput,
  output: ldapDisabledView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireDirectory(organization);
      const affected = await findAffected(connection);
      if (connection.enabled) {
        await connection.update({ enabled: false });
        const data = { owners: affected.owners };
        await recordEvent(ctx, { kind: 'ldap.disabled', ...about(connection), data });
      }
      return { ...viewLdap(connection), ...affected };
    }),
});

/**
 * Removes the connection and ends the sessions that began through it. Accounts and memberships
 * stay. The keys stay as former ones, so that a new connection does not link the accounts to other
 * entries (security I1).
 */
export const removeLdap = operation({
  authority: 'ldap.change',
  input: refInput,
  output: ldapRemovedView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireDirectory(organization);
      const affected = await findAffected(connection);
      // This waits for sign-ins in progress, whose sessions end too.
      await connection.destroy();
      const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
      const data = { owners: affected.owners, sessionsEnded };
      await recordEvent(ctx, { kind: 'ldap.removed', ...about(connection), data });
      return { ...viewLdap(connection), enabled: false, ...affected, sessionsEnded };
    }),
});

/**
 * Deletes all LDAP keys of this organization, former keys included, and ends the sessions through
 * them. Use it after a change of directory. The next sign-in links the person by the verified
 * address (security I1).
 */
export const relinkLdap = operation({
  authority: 'ldap.relink',
  input: refInput,
  output: ldapRelinkedView,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireDirectory(organization);
      const freed = await freeAccounts(ctx, { kind: 'ldap', organizationId: organization.id });
      const { people, sessionsEnded } = freed;
      if (people.length === 0)
        throw new Refusal(
          'not_found',
          'No account is linked through LDAP, so there is nothing to relink.',
        );
      const data = { people: people.length, sessionsEnded };
      await recordEvent(ctx, { kind: 'ldap.relinked', ...about(connection), data });
      return { uri: connection.uri, people, sessionsEnded };
    }),
});

function about({ id, organizationId, uri }: LdapConnection) {
  return { organizationId, subject: { type: 'ldap', id, name: uri } };
}
