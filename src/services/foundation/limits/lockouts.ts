import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { networkOf } from './network.ts';
import { codeLimit, sharedPasswordLimit } from './password.ts';
import { secondsUntilRoom } from './spend.ts';

/** What an account cannot try for a while, since it was refused too often. */
export interface Lockout {
  of: 'password' | 'secondFactor';
  /** Only from there, a network that the person has signed in from; null is everywhere else. */
  network: string | null;
  until: string;
}

/** The lockouts of the account, each with when it ends: its password by network, and its second factor. */
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

/** Where the person has places of their own: the networks of their sessions, ended ones too. */
async function networksOf(accountId: string): Promise<string[]> {
  const sessions = await Session.findAll({ where: { accountId }, attributes: ['address'] });
  return [...new Set(sessions.map(({ address }) => networkOf(address)))];
}
