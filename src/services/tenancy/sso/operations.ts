import { z } from 'zod';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { requireStill } from '../../foundation/authority/require.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { isApproved } from '../connections/approval.ts';
import {
  approvedNow,
  approveInput,
  holdOwner,
  requireRecentOwner,
  requireSamePoints,
} from '../connections/approve.ts';
import { endingConnection } from '../connections/ending.ts';
import { aboutSso } from '../connections/sso.ts';
import { findAffected } from './affected.ts';
import { changedSettings, namedSettings, requireSettings } from './change.ts';
import {
  holdSsoConnection,
  providerOf,
  requireSsoConnection,
  ssoDisabledView,
  ssoRemovedView,
  ssoView,
  viewSso,
} from './connection.ts';
import { readMetadata } from './metadata.ts';
import { domainInUse, findLocked, requireTrustedDomain, switchApproval, writeSso } from './save.ts';
import { changeSsoInput, saveSsoInput } from './schema.ts';

// The single sign-on connection of an organization (spec §2.2).

const refInput = z.strictObject({ org: ref });
const ending = endingConnection(providerOf, 'sso.relink');

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
  prepare: async (ctx, { org: _, ...input }, standing) => {
    const settings = requireSettings(input);
    return { settings, metadata: await readMetadata(ctx, input, standing) };
  },
  run: (ctx, _input, standing, { settings, metadata }) =>
    transaction(() => writeSso(ctx, standing, settings, { named: 'all', metadata })),
});

/** Saves the given settings. An absent setting keeps its value, or gets its default. */
export const changeSso = operation({
  authority: 'sso.change',
  input: changeSsoInput,
  output: ssoView,
  prepare: readMetadata,
  run: (ctx, { org: _, ...input }, standing, metadata) =>
    transaction(async () => {
      await keepDomain(standing.organization, input.emailDomain);
      const settings = changedSettings(await findLocked(standing.organization), input);
      return writeSso(ctx, standing, settings, { named: namedSettings(input), metadata });
    }),
});

/** Locks the domain that the connection will use, so that it stays until the transaction ends. */
async function keepDomain({ id: organizationId }: Organization, given: string | undefined) {
  const stored = await SsoConnection.findOne({ where: { organizationId } });
  const name = given ?? stored?.emailDomain;
  if (name !== undefined && name !== null) await findVerified(organizationId, name);
}

/** Approves where the connection points, so that it may sign owners in (security I8). */
export const approveSso = operation({
  authority: 'sso.approve',
  input: approveInput,
  output: ssoView,
  run: async (ctx, input, { organization }) => {
    await requireRecentOwner(ctx);
    return transaction(async () => {
      const connection = await holdSsoConnection(organization);
      await holdOwner(ctx);
      requireSamePoints(viewSso(ctx, connection), input);
      if (isApproved(connection)) return viewSso(ctx, connection);
      await connection.update({ ...approvedNow, keysSince: null });
      const data = { pointsAt: input.pointsAt };
      await recordEvent(ctx, { kind: 'sso.approved', ...aboutSso(connection), data });
      return viewSso(ctx, connection);
    });
  },
});

/** Enables the connection, which needs a verified domain (security I2). */
export const enableSso = operation({
  authority: 'sso.change',
  input: refInput,
  output: ssoView,
  run: (ctx, _input, standing) =>
    transaction(async () => {
      const seen = await requireSsoConnection(standing.organization);
      if (seen.enabled) return viewSso(ctx, seen);
      await requireTrustedDomain(ctx, standing.organization, seen.emailDomain);
      const connection = await holdSsoConnection(standing.organization);
      requireSamePoints(viewSso(ctx, connection), viewSso(ctx, seen));
      const approval = await switchApproval(ctx, standing, connection, true);
      await refusingDuplicate(
        connection.update({ enabled: true, ...approval }),
        domainInUse(connection.emailDomain),
      );
      await recordEvent(ctx, {
        kind: 'sso.enabled',
        ...aboutSso(connection),
        data: { approved: connection.approved },
      });
      await requireStill(ctx, 'sso.change', standing.organization);
      return viewSso(ctx, connection);
    }),
});

/** Stops new sign-ins through the connection; sessions continue. Returns the affected people. */
export const disableSso = operation({
  authority: 'sso.remove',
  input: refInput,
  output: ssoDisabledView,
  ends: ending.disabling,
  run: (ctx, _input, standing) =>
    transaction(async () => {
      const connection = await holdSsoConnection(standing.organization);
      const affected = await findAffected(connection);
      const wasEnabled = connection.enabled;
      const approval = await switchApproval(ctx, standing, connection, false);
      await connection.update({ enabled: false, ...approval });
      if (wasEnabled) {
        const data = { owners: affected.owners };
        await recordEvent(ctx, { kind: 'sso.disabled', ...aboutSso(connection), data });
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
  authority: 'sso.remove',
  input: refInput,
  output: ssoRemovedView,
  ends: ending.removing,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const connection = await requireSsoConnection(organization);
      const affected = await findAffected(connection);
      // This waits for sign-ins in progress, whose sessions end too.
      await connection.destroy();
      const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
      const data = { owners: affected.owners, sessionsEnded };
      await recordEvent(ctx, { kind: 'sso.removed', ...aboutSso(connection), data });
      return { ...viewSso(ctx, connection), enabled: false, ...affected, sessionsEnded };
    }),
});
