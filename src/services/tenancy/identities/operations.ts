import { z } from 'zod';
import {
  type ConnectionKindName,
  connectionKindNames,
  isConnectionKind,
} from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { counted } from '../../../text/words.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant, userRef, viewOf } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { requireAccount } from '../../people/accounts/account.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { findConnections } from '../connections/kinds.ts';
import { socialProviders } from './social-providers.ts';

export const identityView = z.object({
  id,
  kind: z.enum([...connectionKindNames, 'social']),
  /** The id of the connection, or the name of the social provider. */
  connection: z.string(),
  issuer: z.string(),
  subject: z.string(),
  linkedAt: instant,
  /** The connection was removed. A new one to the same provider or directory adopts it. */
  former: z.literal(true).optional(),
});

/** The identities detached from an account, and how many sessions ended with them. */
export const unlinkedView = z.object({
  email: z.string().nullable(),
  name: z.string(),
  identities: z.array(identityView),
  sessionsEnded: z.int(),
});

/** Lists an account's external identities, also of removed connections, oldest first. */
export const listIdentities = operation({
  authority: 'operator',
  input: z.strictObject({ user: userRef, ...pageInput }),
  output: pageOf(identityView),
  run: async (_ctx, input) => {
    const { id: accountId } = await requireAccount(input.user);
    const isFormer = await findFormer(
      await Identity.findAll({ where: { accountId }, attributes: ['kind', 'connectionId'] }),
    );
    return readRows(Identity, { where: { accountId } }, input, (row) =>
      viewIdentity(row, isFormer),
    );
  },
});

function unlinkedText({ identities, email, name }: z.output<typeof unlinkedView>): string {
  return `${counted(identities.length, 'identity', 'identities')} of ${email ?? name}`;
}

/** Names one identity by its id, or an account to unlink all its identities. */
const unlinkInput = z
  .strictObject({ id: id.optional(), user: userRef.optional() })
  .refine((given) => given.id !== undefined || given.user !== undefined, {
    path: ['id'],
    error: 'is required, unless --user is given',
  });

/**
 * Unlinks one external identity, or all identities of an account, and ends the sessions through
 * them. The next sign-in with the account's address links the identity that proves the address
 * (security I1).
 */
export const unlinkIdentities = operation({
  authority: 'operator',
  input: unlinkInput,
  output: unlinkedView,
  ends: {
    ask: (view) => `Unlink ${unlinkedText(view)}?`,
    effects: () => ['The next sign-in links the account that has the address from the provider.'],
    done: (view) => `Unlinked ${unlinkedText(view)}.`,
  },
  run: (ctx, input) =>
    transaction(async () => {
      const identities = await requireIdentities(input);
      const account = await Account.findByPk(identities[0].accountId, { rejectOnEmpty: true });
      const isFormer = await findFormer(identities);
      const sessionsEnded = await detachIdentities(ctx, identities);
      for (const identity of identities) await recordUnlinked(ctx, identity, account.name);
      const { email, name } = account;
      const views = identities.map((identity) => viewIdentity(identity, isFormer));
      return { email, name, identities: views, sessionsEnded };
    }),
});

async function requireIdentities(
  input: z.output<typeof unlinkInput>,
): Promise<[Identity, ...Identity[]]> {
  const { id: which, user } = input;
  const account = user === undefined ? null : await requireAccount(user);
  const [first, ...more] = await Identity.findAll({
    where: {
      ...(which === undefined ? {} : { id: which }),
      ...(account === null ? {} : { accountId: account.id }),
    },
    order: ['id'],
  });
  if (first !== undefined) return [first, ...more];
  const whose = account === null ? 'There is no' : `${account.email ?? account.name} has no`;
  throw new Refusal('not_found', `${whose} identity${which === undefined ? '' : ` ${which}`}.`, {
    hint: {
      to: 'list them',
      operation: 'identity.list',
      with: { user: account?.email ?? account?.id },
    },
  });
}

type Key = Pick<Identity, 'kind' | 'connectionId'>;

/** Finds which of these identities are former ones: their connection was removed (security I1). */
async function findFormer(identities: Key[]): Promise<(identity: Key) => boolean> {
  const linked = identities.filter(({ kind }) => isConnectionKind(kind));
  const there = await findConnections({ id: linked.map(({ connectionId }) => connectionId) });
  const ids = new Set(there.map(({ row }) => row.id));
  return ({ kind, connectionId }) => isConnectionKind(kind) && !ids.has(connectionId);
}

function viewIdentity(identity: Identity, isFormer: (identity: Key) => boolean) {
  return {
    ...viewOf(identityView, identity),
    connection: identity.connectionId,
    ...(isFormer(identity) ? { former: true as const } : {}),
  };
}

// SQLite allows 32766 parameters in one statement.
const atOnce = 1000;

/**
 * Detaches keys from their accounts and ends the sessions through them. Returns the number of ended
 * sessions. The next sign-in links the person again, by the verified address. Call it inside a
 * transaction.
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

/** Records that a key was detached from its account; `name` is the name of the account. */
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
 * Detaches the organization's keys of one kind, former keys included, and ends the sessions through
 * them (security I1). With `issuer`, detaches only keys of this issuer. Call it inside a
 * transaction.
 */
export async function freeAccounts(
  ctx: Context,
  which: { kind: ConnectionKindName; organizationId: string; issuer?: string },
): Promise<{ people: string[]; sessionsEnded: number }> {
  const identities = await Identity.findAll({
    where: which,
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
  const people = identities.map(({ account }) => account.email ?? account.name);
  return { people, sessionsEnded: await detachIdentities(ctx, identities) };
}
