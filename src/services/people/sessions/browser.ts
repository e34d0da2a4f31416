import { isConnectionKind } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { hashOfToken, randomToken } from '../../../crypto/secret.ts';
import { deleteOld, type Stop } from '../../../database/delete-batches.ts';
import type { Account } from '../../../database/models/account.ts';
import { AccountBrowser } from '../../../database/models/account-browser.ts';
import type { SignInMethod } from '../../../database/models/session.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { after } from '../../foundation/time.ts';
import { addSeen, dropOldest, findSeen, noteSeen, ofLaterBrowser } from './browser.sql.ts';

// The browsers from which each account has signed in. A cookie that outlives sign-out names the
// browser. It does not give access: it only decides whether a sign-in is announced by mail.

const day = 86_400;
/** How long the cookie lasts after a sign-in. Browsers do not keep a cookie longer (RFC 6265bis §5.5). */
export const browserSeconds = 400 * day;
const maxOfAccount = 50;

/** The browser of a sign-in. */
export interface Browser {
  /** The value of its cookie. */
  value: string;
  /** When the account last signed in from it, to the day; null if it has not. */
  seenAt: Date | null;
  /** How many browsers of the account are known. */
  known: number;
}

/** The browser that signs in to the account, by the cookie that it showed, or with a new one. */
export async function findBrowser({ client }: Context, accountId: string): Promise<Browser> {
  const { browser: shown } = client;
  const isOurs = shown !== undefined && /^[\w-]{22}$/.test(shown);
  const value = isOurs ? shown : randomToken(128);
  return { value, ...(await findSeen(accountId, hashOfToken(value))) };
}

/**
 * Remembers that the account has signed in from this browser. If the browser is new to it, but not
 * its first one, notifies the person. A sign-in through a connection is not remembered: an admin
 * controls the provider. Call it in the sign-in's transaction.
 */
export async function meetBrowser(
  ctx: Context,
  account: Account,
  method: SignInMethod,
  { value, seenAt, known }: Browser,
): Promise<void> {
  const { id: accountId } = account;
  const hash = hashOfToken(value);
  if (seenAt !== null) {
    if (seenAt < after(ctx.now, -day)) await noteSeen(accountId, hash, ctx.now);
    return;
  }
  if (isConnectionKind(method)) return;
  if (known >= maxOfAccount) await dropOldest(accountId, maxOfAccount - 1);
  // A parallel sign-in may have added the same browser.
  const isAdded = await addSeen(accountId, hash, ctx.now);
  if (isAdded && known > 0) await notify(ctx, account, { what: 'new-browser', method });
}

/** Deletes browsers whose cookie has expired. */
export async function sweepBrowsers({ now }: Context, stop: Stop): Promise<void> {
  const before = after(now, -browserSeconds - day);
  await deleteOld(AccountBrowser, { column: 'last_seen_at', before, also: ofLaterBrowser }, stop);
}

/** Forgets the browsers of an earlier holder, or of an unapproved connection (security I3, I8). */
export async function forgetBrowsers(accountId: string): Promise<void> {
  await AccountBrowser.destroy({ where: { accountId } });
}
