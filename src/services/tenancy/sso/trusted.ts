import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';

/** Whether the connection is trusted for its e-mail domain now (security I2, S6). */
export async function isTrusted(ctx: Context, connection: SsoConnection): Promise<boolean> {
  if (connection.emailDomain === null) return false;
  if (ctx.config.trust.domains === 'off') return true;
  return (await findVerified(connection.organizationId, connection.emailDomain)) !== null;
}
