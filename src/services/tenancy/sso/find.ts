import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';

/** The organization's connection; refuses `not_found`. */
export async function requireSsoConnection(organization: Organization): Promise<SsoConnection> {
  const connection = await SsoConnection.findOne({ where: { organizationId: organization.id } });
  if (connection !== null) return connection;
  throw new Refusal('not_found', `${organization.slug} has no single sign-on connection.`, {
    hint: `Make one: idctl sso set --org ${shellWord(organization.slug)} --domain D --issuer URL --client-id ID --secret-stdin`,
  });
}
