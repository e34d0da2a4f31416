import { z } from 'zod';
import { tokenScopes } from '../../../database/models/access-token.ts';
import { id, instant, name, ref, role, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

export const registerOwnAppInput = z.strictObject({
  name,
  organization: ref.optional().describe('Whose tokens it may ask about; you are an admin or owner there.'),
});
export const registerAppInput = registerOwnAppInput.extend({ user: userRef });
export const listOwnAppsInput = z.strictObject(pageInput);
export const listAppsInput = listOwnAppsInput.extend({ user: userRef });
export const ownAppInput = z.strictObject({ id });
export const appInput = ownAppInput.extend({ user: userRef.optional() });
export const changeOwnAppInput = ownAppInput.extend({ organization: ref });
export const changeAppInput = changeOwnAppInput.extend({ user: userRef.optional() });
export const revokeOwnAppInput = ownAppInput.extend({
  keepTokens: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((text) => text === 'true'),
});
export const revokeAppInput = revokeOwnAppInput.extend({ user: userRef.optional() });

export const appView = z.object({
  id,
  name: z.string(),
  clientId: z.string(),
  organization: z
    .object({ id, slug: z.string() })
    .nullable()
    .describe('The organization about whose tokens it may ask; without one every token is inactive.'),
  createdAt: instant,
  /** There only while it is suspended: it came out of a backup. */
  suspendedAt: instant.optional(),
});
export const appPage = pageOf(appView);

/** What registering answers; nobody is shown the secret again. */
export const newAppView = appView.extend({ clientSecret: z.string() });

/** How a client says who it is, in the form or by Basic (RFC 6749 §2.3.1). */
const client = {
  client_id: z.string().max(200).optional(),
  client_secret: z.string().max(200).optional(),
};

export const mintTokenInput = z.strictObject({ grant_type: z.string().max(200), ...client });

/** RFC 6749 §5.1. */
export const mintedView = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
});

const token = z.string().min(1).max(4096);

export const introspectTokenInput = z.strictObject({ token, ...client });

/** RFC 7662 §2.2; `client_id` for the tokens of apps; a session has no `scope`. */
export const introspectionView = z.union([
  z.object({
    active: z.literal(true),
    sub: id,
    client_id: z.string().optional(),
    scope: z.enum(tokenScopes).optional(),
    exp: z.int().optional(),
    iat: z.int().optional(),
    token_type: z.literal('Bearer'),
    organization: z
      .object({ id, slug: z.string(), role })
      .describe('The organization of the app, and the role of `sub` in it.'),
  }),
  z.object({ active: z.literal(false) }),
]);

export const revokeBotTokenInput = z.strictObject({ token, ...client });

/** RFC 7009 §2.2: the status says it all. */
export const nothingView = z.object({});

export const metadataInput = z.strictObject({});

const methods = z.array(z.enum(['client_secret_basic', 'client_secret_post']));

/** RFC 8414 §2. */
export const metadataView = z.object({
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
});
