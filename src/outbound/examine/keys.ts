import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { z } from 'zod';
import { type Finding, right, wrong } from '../../finding.ts';
import { jsonIn } from '../../input.ts';
import type { ProviderMetadata } from '../discovery.ts';
import type { BoundedFetch } from '../http.ts';
import { algorithms } from '../oidc.ts';
import { unanswered } from './finding.ts';

const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** Whether the provider publishes keys that can verify its ID tokens (security S4). */
export async function examineKeys(
  fetch: BoundedFetch,
  { jwks_uri: uri }: ProviderMetadata,
  deadline: AbortSignal,
): Promise<Finding> {
  if (uri === undefined) {
    return right(
      'no jwks_uri: only userinfo can be trusted',
      'idctl would refuse an ID token of this provider.',
    );
  }
  try {
    const response = await fetch(uri, { signal: deadline });
    if (response.status !== 200) return wrong(`HTTP ${response.status}`, publish);
    return judge(await response.text());
  } catch (error) {
    return unanswered(error, 'the jwks_uri');
  }
}

const publish = 'At the provider, publish the keys at the jwks_uri.';

function judge(text: string): Finding {
  const { keys } = keySet.safeParse(jsonIn(text)).data ?? {};
  if (keys === undefined) return wrong('a response that is not a key set', publish);
  const usable = algorithms.filter((algorithm) =>
    keys.some((key) => algorithmsOf(key).includes(algorithm)),
  );
  const count = keys.length === 1 ? '1 key' : `${keys.length} keys`;
  if (usable.length > 0) return right(`${count}, for ${usable.join(', ')}`);
  return wrong(
    `${count}, none for these algorithms`,
    'At the provider, sign ID tokens for this client with RS256, PS256, ES256 or EdDSA.',
  );
}

/** The accepted algorithms of the key's type. If the key names one, at most the named algorithm. */
function algorithmsOf(jwk: Record<string, unknown>): string[] {
  const { alg, use } = jwk;
  if (use !== undefined && use !== 'sig') return [];
  return kindsOf(jwk).filter((algorithm) => alg === undefined || alg === algorithm);
}

function kindsOf(jwk: Record<string, unknown>): string[] {
  try {
    // This call parses the value as a key. It throws for any other value.
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({
      key: jwk as JsonWebKey,
      format: 'jwk',
    });
    if (asymmetricKeyType === 'ed25519') return ['EdDSA'];
    if (asymmetricKeyType === 'ec')
      return asymmetricKeyDetails?.namedCurve === 'prime256v1' ? ['ES256'] : [];
    if (asymmetricKeyType === 'rsa') {
      return (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? ['RS256', 'PS256'] : [];
    }
  } catch {
    // This is not a key that idctl can read.
  }
  return [];
}
