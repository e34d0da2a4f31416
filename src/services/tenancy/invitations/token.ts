import { createHash, createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

/**
 * The token of an invitation, 128 bits (security O6): made from its id by a key of its own, so that the daemon can
 * mail what nobody has stored.
 */
export function invitationToken(ctx: Pick<Context, 'keyring'>, id: string): string {
  const mac = createHmac('sha256', ctx.keyring.derive('invitations')).update(id).digest();
  return mac.subarray(0, 16).toString('base64url');
}

/** What is stored of it, SHA-256 in hex. */
export function hashInvitationToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Where the invited person goes with it. */
export function invitationUrl({ config }: Pick<Context, 'config'>, token: string): string {
  return `${config.baseUrl}/login?invitation=${token}`;
}
