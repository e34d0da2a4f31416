import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { socialProviders } from './providers.ts';

// Fewer than SQLite's 32766 parameters of one statement.
const atOnce = 1000;

/**
 * Detaches keys from their accounts and ends the sessions that came through their connection or
 * provider; returns how many sessions. At the next sign-in the person is linked anew, by the
 * verified address. Call it inside a transaction.
 */
export async function detachIdentities(ctx: Context, identities: Identity[]): Promise<number> {
  let ended = 0;
  for (const [connectionId, keys] of Map.groupBy(identities, (key) => key.connectionId)) {
    for (let from = 0; from < keys.length; from += atOnce) {
      const some = keys.slice(from, from + atOnce);
      await Identity.destroy({ where: { id: some.map(({ id }) => id) } });
      const accountId = some.map(({ accountId }) => accountId);
      const provider = socialProviders.find((one) => one === connectionId);
      const through = provider === undefined ? { connectionId } : { method: provider };
      ended += await endSessions(ctx, { accountId, ...through });
    }
  }
  return ended;
}

/** Records that a key was detached from its account; `name` is the account's. */
export function recordUnlinked(ctx: Context, identity: Identity, name: string): Promise<void> {
  const { kind, issuer, organizationId, accountId } = identity;
  return recordEvent(ctx, {
    kind: 'identity.unlinked',
    organizationId,
    subject: { type: 'user', id: accountId, name },
    data: { kind, issuer },
  });
}

/**
 * Detaches the organization's keys of a kind, also those of removed connections, and ends the
 * sessions that came by them (security I1). Returns their accounts. Call it inside a transaction.
 */
export async function freeAccounts(
  ctx: Context,
  which: { kind: 'sso' | 'ldap'; organizationId: string; issuer?: string },
): Promise<{ people: string[]; sessionsEnded: number }> {
  const identities = await Identity.findAll({
    where: which,
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
  const people = identities.map(({ account }) => account.email ?? account.name);
  return { people, sessionsEnded: await detachIdentities(ctx, identities) };
}
