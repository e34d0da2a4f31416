import { z } from 'zod';
import { operation } from '../../foundation/operation.ts';

const methods = z.array(z.enum(['client_secret_basic', 'client_secret_post']));

/** Describes the token endpoint and its neighbours for clients to discover (RFC 8414 §2). */
export const viewMetadata = operation({
  authority: 'public',
  input: z.strictObject({}),
  output: z.object({
    issuer: z.string(),
    jwks_uri: z.string(),
    token_endpoint: z.string(),
    introspection_endpoint: z.string(),
    revocation_endpoint: z.string(),
    response_types_supported: z.array(z.string()),
    grant_types_supported: z.array(z.literal('client_credentials')),
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    service_documentation: z.string(),
  }),
  run: async ({ config: { baseUrl } }) => {
    const methods = ['client_secret_basic' as const, 'client_secret_post' as const];
    return {
      issuer: baseUrl,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      token_endpoint: `${baseUrl}/api/v1/oauth/token`,
      introspection_endpoint: `${baseUrl}/api/v1/oauth/introspect`,
      revocation_endpoint: `${baseUrl}/api/v1/oauth/revoke`,
      // Required, though no endpoint here answers an authorization request.
      response_types_supported: [],
      grant_types_supported: ['client_credentials' as const],
      token_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      service_documentation: `${baseUrl}/api/v1/docs`,
    };
  },
});
