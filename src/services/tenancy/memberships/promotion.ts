import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { discardTotp } from '../../people/accounts/account.ts';
import { revokeApps, revokeTokens } from '../../people/apps/app.ts';
import { deleteRecoveryCodes } from '../../people/codes/recovery-code.ts';
import { removePasskeys } from '../../people/passkeys/passkey.ts';
import { forgetBrowsers } from '../../people/sessions/browser.ts';
import { endSessions, forgetSecondFactor } from '../../people/sessions/end.ts';
import { recordUnlinked } from '../identities/operations.ts';
import { findMarked, type Mark } from './memberships.sql.ts';

// An admin may point a connection at a provider of their own. What came through it before an owner
// approved it must not give access to an owner's account later (security I8). Each session,
// identity and credential keeps its mark `unapproved`, even if the connection is approved or
// removed.

/** One kind of credential that can have the mark. */
interface Marked extends Mark {
  /** Ends the account's marked credentials of this kind. */
  end(ctx: Context, account: Account): Promise<unknown>;
}

const reason = 'owner';
const ofAccount = ({ id }: Account) => ({ accountId: id, unapproved: true as const });

/** Every kind of credential that can have the mark. */
export const markedCredentials: readonly Marked[] = [
  {
    kind: 'token',
    table: 'access_tokens',
    mark: 'unapproved',
    end: (ctx, account) => revokeTokens(ctx, ofAccount(account), reason),
  },
  {
    kind: 'app',
    table: 'apps',
    mark: 'unapproved',
    end: (ctx, account) => revokeApps(ctx, ofAccount(account)),
  },
  {
    kind: 'passkey',
    table: 'passkeys',
    mark: 'unapproved',
    end: async (ctx, account) => {
      const passkeys = await Passkey.findAll({ where: ofAccount(account) });
      await removePasskeys(ctx, account, passkeys, { reason });
    },
  },
  {
    kind: 'recoveryCode',
    table: 'recovery_codes',
    mark: 'unapproved',
    end: (_ctx, { id }) => deleteRecoveryCodes(id, { unapproved: true }),
  },
  {
    kind: 'identity',
    table: 'identities',
    mark: 'unapproved',
    // Unmarked sessions of this identity continue: the approved connection would have linked it too.
    end: async (ctx, account) => {
      for (const identity of await Identity.findAll({ where: ofAccount(account) })) {
        await identity.destroy();
        await recordUnlinked(ctx, identity, account.name);
      }
    },
  },
  {
    kind: 'password',
    table: 'accounts',
    mark: 'password_unapproved',
    end: (_ctx, { id }) =>
      Account.update({ passwordHash: null, passwordUnapproved: false }, { where: { id } }),
  },
  {
    kind: 'totp',
    table: 'accounts',
    mark: 'totp_unapproved',
    end: async (_ctx, { id }) => {
      await discardTotp(id);
      await forgetSecondFactor(id, null);
    },
  },
  {
    kind: 'session',
    table: 'sessions',
    mark: 'unapproved',
    end: (ctx, account) => endSessions(ctx, ofAccount(account)),
  },
];

/**
 * Ends what came to these accounts through an unapproved connection, with an event. Call it where
 * accounts become owners of the organization, with the accounts locked (security I8). A sign-in
 * that is waiting for its second factor need not end: `requireApprovedForOwner` refuses it later.
 */
export async function endUnapproved(
  ctx: Context,
  organizationId: string,
  accountIds: string[],
): Promise<void> {
  const found = await findMarked(markedCredentials, accountIds);
  for (const [id, rows] of Map.groupBy(found, ({ accountId }) => accountId)) {
    const account = await Account.findByPk(id, { rejectOnEmpty: true });
    const kinds = new Set(rows.map(({ kind }) => kind));
    const ending = markedCredentials.filter(({ kind }) => kinds.has(kind));
    for (const { end } of ending) await end(ctx, account);
    await forgetBrowsers(id);
    await recordEvent(ctx, {
      kind: 'account.unapproved.ended',
      ...eventAbout('user', account, organizationId),
      data: { ended: ending.map(({ kind }) => kind) },
    });
  }
}
