import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';

/** The connection that people of the e-mail domain sign in through; null without one. */
export async function findUsable(ctx: Context, emailDomain: string): Promise<SsoConnection | null> {
  const connection = await SsoConnection.findOne({ where: { emailDomain, enabled: true } });
  return connection !== null && (await isTrusted(ctx, connection)) ? connection : null;
}

/** Whether the connection is trusted for its e-mail domain now (security I2, S6). */
export async function isTrusted(ctx: Context, connection: SsoConnection): Promise<boolean> {
  if (connection.emailDomain === null) return false;
  if (ctx.config.trust.domains === 'off') return true;
  return (await findVerified(connection.organizationId, connection.emailDomain)) !== null;
}
