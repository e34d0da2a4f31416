import { z } from 'zod';
import { operation } from '../../foundation/operation.ts';

const methods = z.array(z.string());
const strings = z.array(z.string());

/**
 * The discovery document (RFC 8414 §2, OpenID Connect Discovery §3), the same at both well-known
 * addresses. Does not load the package of idctl's OpenID provider; a test compares the document
 * with the package's own.
 */
export const viewMetadata = operation({
  authority: 'public',
  input: z.strictObject({}),
  output: z.object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    userinfo_endpoint: z.string(),
    jwks_uri: z.string(),
    introspection_endpoint: z.string(),
    revocation_endpoint: z.string(),
    end_session_endpoint: z.string(),
    scopes_supported: strings,
    claims_supported: strings,
    response_types_supported: strings,
    response_modes_supported: strings,
    grant_types_supported: strings,
    subject_types_supported: strings,
    id_token_signing_alg_values_supported: strings,
    code_challenge_methods_supported: strings,
    acr_values_supported: strings,
    prompt_values_supported: strings,
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: z.literal(true),
    backchannel_logout_supported: z.literal(true),
    backchannel_logout_session_supported: z.literal(true),
    claims_parameter_supported: z.literal(false),
    request_parameter_supported: z.literal(false),
    request_uri_parameter_supported: z.literal(false),
    service_documentation: z.string(),
  }),
  run: async ({ config: { baseUrl } }) => {
    const secret = ['client_secret_basic', 'client_secret_post'];
    return {
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/api/v1/oauth/token`,
      userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      introspection_endpoint: `${baseUrl}/api/v1/oauth/introspect`,
      revocation_endpoint: `${baseUrl}/api/v1/oauth/revoke`,
      end_session_endpoint: `${baseUrl}/oauth/logout`,
      scopes_supported: ['openid', 'profile', 'email', 'groups', 'offline_access'],
      claims_supported: [
        ...['sub', 'sid', 'iss', 'auth_time', 'acr', 'amr'],
        ...['name', 'preferred_username', 'given_name', 'family_name', 'locale', 'updated_at'],
        ...['email', 'email_verified', 'groups', 'organization'],
      ],
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'EdDSA'],
      code_challenge_methods_supported: ['S256'],
      acr_values_supported: ['urn:idctl:1', 'urn:idctl:2'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      token_endpoint_auth_methods_supported: [...secret, 'none'],
      introspection_endpoint_auth_methods_supported: secret,
      revocation_endpoint_auth_methods_supported: [...secret, 'none'],
      authorization_response_iss_parameter_supported: true as const,
      backchannel_logout_supported: true as const,
      backchannel_logout_session_supported: true as const,
      claims_parameter_supported: false as const,
      request_parameter_supported: false as const,
      request_uri_parameter_supported: false as const,
      service_documentation: `${baseUrl}/api/v1/docs`,
    };
  },
});
