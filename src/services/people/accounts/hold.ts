import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Session } from '../../../database/models/session.ts';
import { Refusal } from '../../../errors.ts';
import { lockAccount } from './lock.ts';

/**
 * Locks the account until the transaction ends, and refuses a credential that has ended since the
 * request began. Otherwise a credential made after a reclaim would outlive it (security I3). Call
 * it before making a credential.
 */
export async function holdAccount(ctx: Context, accountId: string): Promise<void> {
  if ((await lockAccount(accountId)) !== null && (await isLive(ctx))) return;
  throw new Refusal('invalid_credential', 'The credential was ended.', { hint: 'Sign in again.' });
}

/** Whether the caller's credential is still live. */
export async function isLive({ actor }: Context): Promise<boolean> {
  if (actor.kind !== 'user') return true;
  if (actor.via !== 'session')
    return (await AccessToken.count({ where: { id: actor.tokenId } })) > 0;
  return (await Session.count({ where: { id: actor.sessionId, endedAt: null } })) > 0;
}
