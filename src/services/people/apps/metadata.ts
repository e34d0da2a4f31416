import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { metadataView } from './schema.ts';

/** What a client can know of the token endpoint and its neighbours without being told (RFC 8414). */
export function viewMetadata({ config: { baseUrl } }: Context): z.input<typeof metadataView> {
  const methods = ['client_secret_basic' as const, 'client_secret_post' as const];
  return {
    issuer: baseUrl,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    token_endpoint: `${baseUrl}/api/v1/oauth/token`,
    introspection_endpoint: `${baseUrl}/api/v1/oauth/introspect`,
    revocation_endpoint: `${baseUrl}/api/v1/oauth/revoke`,
    // Required, though nothing here answers an authorization request.
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    service_documentation: `${baseUrl}/api/v1/docs`,
  };
}
