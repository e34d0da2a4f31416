import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import { isUuid, ref } from '../../foundation/fields.ts';
import { samlCertificates } from '../../foundation/keys/saml-key.ts';
import { operation } from '../../foundation/operation.ts';

/** The URLs of an organization's SAML endpoints. The entity ID of idctl is the URL of its metadata. */
export function ourSaml({ config }: Pick<Context, 'config'>, organizationId: string) {
  const at = `${config.baseUrl}/auth/saml/${organizationId}`;
  return { entityId: `${at}/metadata`, acsUrl: `${at}/acs` };
}

/**
 * Shows the metadata of idctl for a SAML provider, also before the organization has a connection. It
 * has a key for encryption only if the connection takes encrypted assertions.
 */
export const showOurMetadata = operation({
  authority: 'public',
  input: z.strictObject({ org: ref }),
  output: z.string(),
  run: async (ctx, { org }) => {
    const { id: organizationId } = await requireSamlParty(org);
    const connection = await SsoConnection.findOne({ where: { organizationId } });
    const { signing, encryption } = await samlCertificates(ctx);
    return ctx.outbound.saml.ourMetadata({
      ...ourSaml(ctx, organizationId),
      signing,
      encryption: connection?.encryptAssertions === true ? encryption : [],
    });
  },
});

/**
 * The organization that the path of an endpoint names, with its creator. Refuses with `not_found`. The
 * endpoints are public and take no slug, so that strangers cannot find out the names of organizations.
 */
export async function requireSamlParty(org: string): Promise<Organization> {
  if (isUuid(org)) {
    const attributes = ['id', 'createdBy'];
    const organization = await Organization.findByPk(org.toLowerCase(), { attributes });
    if (organization !== null) return organization;
  }
  throw new Refusal('not_found', 'There is no such organization.');
}
