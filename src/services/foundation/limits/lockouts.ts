import { networkOf } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { codeLimit, sharedPasswordLimit } from './password.ts';
import { secondsUntilRoom } from './spend.ts';

/** A lockout: after too many refusals, an account cannot be tried for a while. */
export interface Lockout {
  of: 'password' | 'secondFactor';
  /**
   * Applies only to this network, from which the person has signed in. Null means everywhere else.
   */
  network: string | null;
  until: string;
}

/** The lockouts of the account with their ends: its password by network, and its second factor. */
export async function listLockouts(
  ctx: Context,
  account: Pick<Account, 'id' | 'email'>,
): Promise<Lockout[]> {
  const { limits } = ctx.config;
  if (limits.enabled === 'off') return [];
  const password = sharedPasswordLimit(ctx, account.email ?? account.id);
  const shared = { of: 'password' as const, network: null, limit: password };
  const own = (await networksOf(account.id)).map((network) => ({
    ...shared,
    network,
    limit: { ...password, apart: network },
  }));
  const code = { of: 'secondFactor' as const, network: null, limit: codeLimit(account.id) };
  const lockouts: Lockout[] = [];
  for (const { of, network, limit } of [shared, ...own, code]) {
    const seconds = await secondsUntilRoom(ctx, [limit]);
    const until = new Date(ctx.now.getTime() + seconds * 1000).toISOString();
    if (seconds > 0) lockouts.push({ of, network, until });
  }
  return lockouts;
}

/** The networks of the person's sessions, ended ones too. There the person has separate places. */
async function networksOf(accountId: string): Promise<string[]> {
  const sessions = await Session.findAll({ where: { accountId }, attributes: ['address'] });
  return [...new Set(sessions.map(({ address }) => networkOf(address)))];
}
