import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { StoredMetadata } from '../../../database/models/sso-connection.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import type { SamlMetadata } from '../../../outbound/saml/saml.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { inTurn } from '../../foundation/limits/turns.ts';

interface Given {
  metadataUrl?: string | null | undefined;
  metadataXml?: string | undefined;
}

/** Reads the metadata that a save gives, as text or at a URL; null if it gives none. */
export async function readMetadata(
  ctx: Context,
  { metadataUrl, metadataXml }: Given,
  { organization }: Standing,
): Promise<StoredMetadata | null> {
  if (metadataXml !== undefined) {
    if (typeof metadataUrl === 'string')
      throw refuseField('metadataXml', 'cannot be combined with metadataUrl');
    return readText(ctx, metadataXml);
  }
  return typeof metadataUrl === 'string' ? fetchMetadata(ctx, organization, metadataUrl) : null;
}

/** Reads the metadata at a URL. Refuses with `provider_failed` or `outbound_refused`. */
export function fetchMetadata(
  ctx: Context,
  organization: Organization,
  url: string,
): Promise<StoredMetadata> {
  return inTurn(ctx, 'network', organization, async () => {
    const { metadata } = await ctx.outbound.saml.fetchMetadata(url);
    return toStore(metadata);
  });
}

/** Reads metadata that is given as text. A fault is a fault of the field `path`, not of a server. */
export async function readText(
  { outbound }: Context,
  xml: string,
  path = 'metadataXml',
): Promise<StoredMetadata> {
  try {
    return toStore(await outbound.saml.readMetadata(xml));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'provider_failed') throw error;
    // The name of the field begins the sentence.
    const fault = error.message.replace(/^The identity provider's metadata /, '');
    throw refuseField(path, fault, error.hint);
  }
}

/** The metadata in its stored form. */
export function toStore({ certificates, ...metadata }: SamlMetadata): StoredMetadata {
  return {
    ...metadata,
    certificates: certificates.map(({ pem, fingerprint, notAfter }) => ({
      ...{ pem, fingerprint },
      notAfter: notAfter.toISOString(),
    })),
  };
}
