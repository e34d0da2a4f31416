import { Op, type WhereOptions } from 'sequelize';
import type { Actor, Context } from '../../../context.ts';
import { Session, type SignInMethod } from '../../../database/models/session.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endByDomain, endById, endPastSecondFactor } from './sessions.sql.ts';
import { namedSession, readToken } from './tokens.ts';

type Which =
  | { id: string }
  | { organizationId: string }
  | { connectionId: string }
  /**
   * All sessions of these accounts, or those through an organization, connection or method, or with
   * the mark `unapproved`.
   */
  | {
      accountId: string | string[];
      organizationId?: string;
      connectionId?: string;
      method?: SignInMethod;
      unapproved?: true;
    }
  /** All sessions of an account, or those through a method, except the session `but`. */
  | { accountId: string; method?: SignInMethod; but?: string | null }
  | 'everyone';

/** Ends these sessions; returns how many. Their tokens are refused from the next request. */
export async function endSessions(ctx: Context, which: Which): Promise<number> {
  const { but = null, ...exactly } = which === 'everyone' ? {} : { but: null, ...which };
  const spared = but === null ? {} : { id: { [Op.ne]: but } };
  const where: WhereOptions = { ...exactly, ...spared, endedAt: null };
  const [ended] = await Session.update({ endedAt: ctx.now }, { where });
  return ended;
}

/** Ends one session and records it; false if it had ended before. Call it inside a transaction. */
export async function endOneSession(ctx: Context, id: string): Promise<boolean> {
  const account = await endById(id, ctx.now);
  if (account === null) return false;
  const subject = { type: 'session', id };
  await recordEvent(ctx, { kind: 'session.ended', subject, data: { account } });
  return true;
}

/**
 * Ends the session that the browser's cookies show: by a token that has not expired, or by its
 * name. An expired token does not end a session, because it may have been stolen. Returns whether a
 * session ended. Call it where the session's cookies are replaced or cleared.
 */
export async function endShownSession(ctx: Context): Promise<boolean> {
  const { access, refresh } = ctx.client.shown ?? {};
  const tokens = [
    access === undefined ? null : await readToken(ctx, access, 'at+jwt'),
    refresh === undefined ? null : await readToken(ctx, refresh, 'rt+jwt'),
  ];
  const ids = new Set([namedSession(ctx), ...tokens.map((claims) => claims?.sid ?? null)]);
  return transaction(async () => {
    let ended = false;
    for (const id of ids) {
      if (id !== null && (await endOneSession(ctx, id))) ended = true;
    }
    return ended;
  });
}

/**
 * Ends the organization's sessions that began through the domain's connection, or belong to people
 * with an address on the domain. Returns how many.
 */
export async function endSessionsByDomain(
  ctx: Context,
  organizationId: string,
  domain: string,
): Promise<number> {
  return endByDomain(organizationId, domain, ctx.now);
}

/**
 * Ends the sessions whose only proof comes from one organization's provider, if the account has a
 * second factor and belongs to another organization too. The session `but` continues. Call it with
 * the account locked (security P12).
 */
export async function endSessionsPastSecondFactor(
  ctx: Context,
  accountId: string,
  but: string | null = null,
): Promise<void> {
  await endPastSecondFactor(ctx, accountId, but);
}

/**
 * Forgets that sessions, except `but`, passed a second factor that has been removed (security P15).
 */
export async function forgetSecondFactor(accountId: string, but: string | null): Promise<void> {
  const where = { accountId, endedAt: null, ...(but === null ? {} : { id: { [Op.ne]: but } }) };
  await Session.update({ secondFactorAt: null }, { where });
}

/**
 * Marks the caller's session as one that passed the second factor, because the person has just added
 * it after a recent sign-in (security P17). `vouchedBy` is the mark of the session, which stays.
 */
export async function passSecondFactor(
  ctx: Context,
  { vouchedBy }: Pick<Session, 'vouchedBy'>,
): Promise<void> {
  const id = ownSessionOf(ctx.actor);
  if (id === null) return;
  await Session.update({ secondFactorAt: ctx.now, vouchedBy }, { where: { id } });
}

/** The id of the actor's session; null for tokens and for actors that are not users. */
export function ownSessionOf(actor: Actor): string | null {
  return actor.kind === 'user' && actor.via === 'session' ? actor.sessionId : null;
}
