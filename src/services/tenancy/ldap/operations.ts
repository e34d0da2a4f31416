import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { parse } from '../../../input.ts';
import { requireStill } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { isApproved, namedIn } from '../connections/approval.ts';
import {
  approvedNow,
  approveInput,
  holdOwner,
  requireRecentOwner,
  requireSamePoints,
} from '../connections/approve.ts';
import { endingConnection } from '../connections/ending.ts';
import { aboutLdap, directorySettingsOf } from '../connections/ldap.ts';
import { freeAccounts } from '../identities/operations.ts';
import { findAffected } from '../sso/affected.ts';
import {
  holdDirectory,
  ldapDisabledView,
  ldapRelinkedView,
  ldapRemovedView,
  ldapView,
  requireDirectory,
  viewLdap,
} from './connection.ts';
import { findLocked, requireAnyDomain, switchApproval, writeLdap } from './save.ts';
import { changeLdapInput, saveLdapInput } from './schema.ts';

// The LDAP connection of an organization (spec §2.5).

const refInput = z.strictObject({ org: ref });
const ending = endingConnection(({ uri }: { uri: string }) => uri, 'ldap.relink');

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
  run: (ctx, input, standing) => transaction(() => writeLdap(ctx, standing, input, 'all')),
});

/** Saves the given settings. An absent setting keeps its value, or gets its default. */
export const changeLdap = operation({
  authority: 'ldap.change',
  input: changeLdapInput,
  output: ldapView,
  run: (ctx, input, standing) =>
    transaction(async () => {
      const stored = await findLocked(standing.organization);
      const before =
        stored === null ? {} : { ...directorySettingsOf(stored), enabled: stored.enabled };
      const whole = parse(saveLdapInput, { ...before, ...input });
      return writeLdap(ctx, standing, whole, namedIn(input));
    }),
});

/** Approves where the connection points, so that it may sign owners in (security I8). */
export const approveLdap = operation({
  authority: 'ldap.approve',
  input: approveInput,
  output: ldapView,
  run: async (ctx, input, { organization }) => {
    await requireRecentOwner(ctx);
    return transaction(async () => {
      const connection = await holdDirectory(organization);
      await holdOwner(ctx);
      requireSamePoints(viewLdap(connection), input);
      if (isApproved(connection)) return viewLdap(connection);
      await connection.update(approvedNow);
      const data = { pointsAt: input.pointsAt };
      await recordEvent(ctx, { kind: 'ldap.approved', ...aboutLdap(connection), data });
      return viewLdap(connection);
    });
  },
});

/** Enables sign-in through the directory, which needs a verified domain (security I2). */
export const enableLdap = operation({
  authority: 'ldap.change',
  input: refInput,
  output: ldapView,
  run: (ctx, _input, standing) =>
    transaction(async () => {
      const connection = await holdDirectory(standing.organization);
      if (connection.enabled) return viewLdap(connection);
      await requireAnyDomain(ctx, standing.organization);
      const approval = await switchApproval(ctx, standing, connection, true);
      await connection.update({ enabled: true, ...approval });
      await recordEvent(ctx, {
        kind: 'ldap.enabled',
        ...aboutLdap(connection),
        data: { approved: connection.approved },
      });
      await requireStill(ctx, 'ldap.change', standing.organization);
      return viewLdap(connection);
    }),
});

/** Stops new sign-ins through the directory; sessions continue. Returns the affected people. */
export const disableLdap = operation({
  authority: 'ldap.remove',
  input: refInput,
  output: ldapDisabledView,
  ends: ending.disabling,
  run: (ctx, _input, standing) =>
    transaction(async () => {
      const connection = await holdDirectory(standing.organization);
      const affected = await findAffected(connection);
      const wasEnabled = connection.enabled;
      const approval = await switchApproval(ctx, standing, connection, false);
      await connection.update({ enabled: false, ...approval });
      if (wasEnabled) {
        const data = { owners: affected.owners };
        await recordEvent(ctx, { kind: 'ldap.disabled', ...aboutLdap(connection), data });
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
  authority: 'ldap.remove',
  input: refInput,
  output: ldapRemovedView,
  ends: ending.removing,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireDirectory(organization);
      const affected = await findAffected(connection);
      // This waits for sign-ins in progress, whose sessions end too.
      await connection.destroy();
      const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
      const data = { owners: affected.owners, sessionsEnded };
      await recordEvent(ctx, { kind: 'ldap.removed', ...aboutLdap(connection), data });
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
      const freed = await freeAccounts(ctx, {
        kind: connectionKinds.ldap.name,
        organizationId: organization.id,
      });
      const { people, sessionsEnded } = freed;
      if (people.length === 0)
        throw new Refusal(
          'not_found',
          'No account is linked through LDAP, so there is nothing to relink.',
        );
      const data = { people: people.length, sessionsEnded };
      await recordEvent(ctx, { kind: 'ldap.relinked', ...aboutLdap(connection), data });
      return { uri: connection.uri, people, sessionsEnded };
    }),
});
