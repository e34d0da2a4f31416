import { randomBytes } from 'node:crypto';
import { type CustomFetch, genericGrantRequest } from 'openid-client';
import { z } from 'zod';
import { Refusal } from '../../errors.ts';
import { type Finding, right, wrong } from '../../finding.ts';
import { jsonIn } from '../../input.ts';
import type { ProviderMetadata } from '../discovery.ts';
import { causes } from '../failure.ts';
import type { BoundedFetch } from '../http.ts';
import {
  adapted,
  type Confidential,
  configure,
  type SecretMethod,
  secretMethodFor,
} from '../oidc.ts';
import { unanswered } from './finding.ts';

/** The token endpoint's answer: the status, and the error code if RFC 6749 §5.2 defines it. */
interface Verdict {
  status: number;
  error: string | null;
}

/** A random value: a secret, a state or a code verifier that is sent once. */
export const random = () => randomBytes(32).toString('base64url');

/**
 * Whether the provider accepts the client ID and secret. Sends a code that the provider never
 * issued. A provider that checks the secret first (RFC 6749 §4.1.3) answers `invalid_grant` only if
 * the secret is right.
 */
export async function examineClient(
  fetch: BoundedFetch,
  metadata: ProviderMetadata,
  client: Confidential,
  deadline: AbortSignal,
): Promise<Finding> {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!methods.some((method) => /^client_secret_(basic|post)$/.test(method))) {
    return wrong(
      'a token endpoint that does not accept a client secret',
      'At the provider, allow client_secret_basic or client_secret_post for this client.',
    );
  }
  const method = secretMethodFor(metadata);
  const ask = (secret: string, by = method) =>
    askToken(adapted(fetch, deadline), metadata, { ...client, clientSecret: secret }, by);
  try {
    const verdict = await ask(client.clientSecret);
    if (verdict.error !== 'invalid_grant') {
      const finding = judge(verdict);
      if (!isRefusedClient(verdict)) return finding;
      const other = otherThan(method);
      const otherwise = await ask(client.clientSecret, other).catch(refusalAsNull);
      return otherwise?.error === 'invalid_grant' ? acceptedBy(other, method) : finding;
    }
    // Some providers check the code first, so they give the same answer for a wrong secret.
    const unknown = await ask(random()).catch(refusalAsNull);
    if (unknown?.error !== 'invalid_grant') return right('accepted');
    return right('the provider refuses the code before it checks the secret', [
      'Only a sign-in shows whether the secret is right.',
      { to: 'list sign-ins', operation: 'sso.attempts' },
    ]);
  } catch (error) {
    return unanswered(error, 'the token endpoint');
  }
}

function isRefusedClient({ status, error }: Verdict): boolean {
  return error === 'invalid_client' || error === 'unauthorized_client' || status === 401;
}

function otherThan(method: SecretMethod): SecretMethod {
  return method === 'client_secret_basic' ? 'client_secret_post' : 'client_secret_basic';
}

/** The finding if the provider accepts the secret only with the method that idctl does not use. */
function acceptedBy(other: SecretMethod, used: SecretMethod): Finding {
  return wrong(
    `not accepted with ${used}, but with ${other}`,
    `Register the client for ${used} at the provider, or make its discovery document list only ${other}.`,
  );
}

function judge({ status, error }: Verdict): Finding {
  if (error === 'invalid_client' || status === 401) {
    return wrong(
      `not accepted (${error ?? `HTTP ${status}`})`,
      'Enter the client ID and the client secret again, as the provider shows them.',
    );
  }
  if (error === 'unauthorized_client') {
    return wrong(
      'the client may not use authorization codes',
      'Allow the authorization code flow for this client at the provider.',
    );
  }
  if (error === null && status < 300) {
    return wrong(
      'a made-up code was accepted',
      'Do not use this provider until it refuses made-up codes.',
    );
  }
  return wrong(
    `an unexpected answer: ${error ?? `HTTP ${status}`}`,
    'Find this request in the log of the provider.',
  );
}

/** Turns a refusal into null, for a request that may fail. Rethrows any other error. */
export function refusalAsNull(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}

async function askToken(
  fetch: CustomFetch,
  metadata: ProviderMetadata,
  client: Confidential,
  method: SecretMethod,
): Promise<Verdict> {
  let verdict: Verdict | undefined;
  const watched: CustomFetch = async (url, options) => {
    const response = await fetch(url, options);
    const text = await response.clone().text();
    verdict = {
      status: response.status,
      error: errors.safeParse(jsonIn(text)).data?.error ?? null,
    };
    return response;
  };
  const configuration = configure(metadata, client, watched, method);
  const form = {
    code: 'made-up-by-sso-test',
    redirect_uri: client.redirectUri,
    code_verifier: random(),
  };
  try {
    await genericGrantRequest(configuration, 'authorization_code', form);
  } catch (error) {
    const refusal = causes(error).find((one) => one instanceof Refusal);
    if (refusal !== undefined) throw refusal;
    if (verdict === undefined) throw error;
  }
  if (verdict === undefined) throw new Error('the library sent no request');
  return verdict;
}

const errors = z.object({
  error: z.enum([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
  ]),
});
