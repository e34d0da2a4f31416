import { allowInsecureRequests, type CustomFetch, customFetch, discovery } from 'openid-client';
import { z } from 'zod';
import { providerFailed, providerRefusal } from './provider-refusal.ts';

const lifetime = 10 * 60 * 1000;
const failureLifetime = 5 * 1000;
const capacity = 500;

const endpoint = z.url({ protocol: /^https?$/ }).max(2000);

/** The fields of the discovery document that idctl reads. */
export const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  userinfo_endpoint: endpoint,
  jwks_uri: endpoint.exactOptional(),
  token_endpoint_auth_methods_supported: z
    .array(z.string())
    .transform(knownMethods)
    .exactOptional(),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
});

/** The provider metadata that idctl uses. */
export type ProviderMetadata = z.output<typeof metadataSchema>;

/** A cache of discovery documents by issuer, for 10 minutes. A failure is cached for 5 seconds. */
export interface Discovery {
  /** Refuses with `provider_failed` without a document of exactly this issuer (security S5). */
  read(issuer: string): Promise<ProviderMetadata>;
  /** Makes the next sign-in read the document again: keys or endpoints may have changed. */
  forget(issuer: string): void;
}

/** A bounded cache of discovery documents. Concurrent sign-ins share one request. */
export function createDiscovery(fetch: CustomFetch): Discovery {
  const known = new Map<string, { until: number; document: Promise<ProviderMetadata> }>();
  return {
    read(issuer) {
      const entry = known.get(issuer);
      if (entry && entry.until > performance.now()) return entry.document;
      const document = discover(issuer, fetch);
      known.delete(issuer);
      known.set(issuer, { until: performance.now() + lifetime, document });
      for (const oldest of known.keys()) if (known.size > capacity) known.delete(oldest);
      document.catch(() => {
        const now = known.get(issuer);
        // Failures are cached, so that sign-ins cause few requests to a provider that is down.
        if (now?.document === document) now.until = performance.now() + failureLifetime;
      });
      return document;
    },
    forget: (issuer) => void known.delete(issuer),
  };
}

/** Keeps only known methods, so that a large document does not fill the cache. */
function knownMethods(methods: string[]): string[] {
  return ['client_secret_basic', 'client_secret_post'].filter((method) => methods.includes(method));
}

async function discover(issuer: string, fetch: CustomFetch): Promise<ProviderMetadata> {
  const found = await request(issuer, fetch);
  if (found.issuer !== issuer) throw otherIssuer(issuer, found.issuer);
  const checked = metadataSchema.safeParse(found);
  if (!checked.success) {
    throw providerFailed(
      'discovery',
      'endpoint_missing',
      `missing or malformed: ${spoiled(checked.error)}`,
      {
        hint: 'idctl needs a provider with authorization, token and userinfo endpoints.',
        cause: checked.error,
      },
    );
  }
  // The person's browser opens this URL, so the guard does not check it.
  if (issuer.startsWith('https:') && !checked.data.authorization_endpoint.startsWith('https:')) {
    throw providerFailed(
      'discovery',
      'endpoint_insecure',
      'its authorization endpoint does not use https',
    );
  }
  return checked.data;
}

async function request(issuer: string, fetch: CustomFetch): Promise<{ issuer: string }> {
  try {
    const options = { execute: [allowInsecureRequests], [customFetch]: fetch };
    // Discovery does not use the client id, but the library requires one.
    return (
      await discovery(new URL(issuer), 'discovery', undefined, undefined, options)
    ).serverMetadata();
  } catch (error) {
    if (isOtherIssuer(error)) throw otherIssuer(issuer, error.cause.body.issuer);
    throw providerRefusal(error, 'discovery');
  }
}

function isOtherIssuer(error: unknown): error is { cause: { body: { issuer: string } } } {
  const shape = z.object({
    code: z.literal('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'),
    cause: z.object({ body: z.object({ issuer: z.string() }) }),
  });
  return shape.safeParse(error).success;
}

function otherIssuer(issuer: string, found: string) {
  const bare = (text: string) => text.replace(/\/$/, '');
  const slash = found.endsWith('/') ? `${issuer}/` : bare(issuer);
  return providerFailed('discovery', 'issuer_mismatch', 'it names another issuer', {
    hint:
      bare(found) === bare(issuer)
        ? `Set the issuer to ${slash}: the trailing slash matters.`
        : 'Set the issuer exactly as the provider spells it in its discovery document.',
    cause: new Error(`configured ${issuer}, discovered ${found}`),
  });
}

/** The fields of the document that are missing or malformed. */
export function spoiled(error: z.ZodError): string {
  return [...new Set(error.issues.map((issue) => String(issue.path[0])))].join(', ');
}
