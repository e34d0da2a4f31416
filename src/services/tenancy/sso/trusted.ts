import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';

/** Whether the connection's word for its e-mail domain counts now (security I2, S6). */
export async function isTrusted(ctx: Context, connection: SsoConnection): Promise<boolean> {
  if (connection.emailDomain === null) return false;
  if (ctx.config.trust.domains === 'off') return true;
  return (await findVerified(connection.organizationId, connection.emailDomain)) !== null;
}
