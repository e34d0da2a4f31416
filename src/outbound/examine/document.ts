import { z } from 'zod';
import { type Finding, found, right, wrong } from '../../finding.ts';
import { jsonIn } from '../../input.ts';
import { metadataSchema, type ProviderMetadata, spoiled } from '../discovery.ts';
import { type Guard, wayOf } from '../guard.ts';
import type { BoundedFetch } from '../http.ts';
import { unanswered } from './finding.ts';
import { isLookupError } from './place.ts';

/** A received discovery document, with the provider's time. */
export interface Discovered {
  document: Record<string, unknown>;
  /** In milliseconds since 1970; null if the provider does not send a time. */
  date: number | null;
}

const path = '/.well-known/openid-configuration';

/** Whether the discovery URL returns a JSON document. */
export async function examineDiscovery(
  fetch: BoundedFetch,
  issuer: string,
  deadline: AbortSignal,
): Promise<Finding<Discovered>> {
  try {
    const response = await fetch(`${issuer.replace(/\/$/, '')}${path}`, {
      headers: { accept: 'application/json' },
      signal: deadline,
    });
    if (response.status !== 200) {
      return wrong(
        `HTTP ${response.status}`,
        `Check the issuer and its path. idctl appends ${path}.`,
      );
    }
    const text = await response.text();
    const document = z.record(z.string(), z.unknown()).safeParse(jsonIn(text)).data;
    if (document === undefined)
      return wrong('something that is not a JSON object', 'Check the issuer and its path.');
    return found(
      { document, date: dateOf(response.headers) },
      `a document of ${text.length} characters`,
    );
  } catch (error) {
    return unanswered(error, 'the provider');
  }
}

// RFC 9111 §4.2.3: a cached response is `Age` seconds old.
function dateOf(headers: Headers): number | null {
  const date = Date.parse(headers.get('date') ?? '');
  const age = Number(headers.get('age') ?? 0);
  return Number.isNaN(date) ? null : date + (age > 0 && Number.isFinite(age) ? age * 1000 : 0);
}

/** Whether the document names exactly this issuer (S5). If `shown`, quotes a wrong issuer. */
export function examineIssuer(issuer: string, { document }: Discovered, shown: boolean): Finding {
  const named = document['issuer'];
  if (named === issuer) return right('the same');
  if (typeof named !== 'string')
    return wrong('no issuer', 'The provider must name its issuer in the document.');
  const bare = (text: string) => text.replace(/\/$/, '');
  if (bare(named) === bare(issuer)) {
    const spelled = named.endsWith('/') ? `${bare(issuer)}/` : bare(issuer);
    return wrong('the same except for a trailing slash', `Set the issuer to ${spelled}`);
  }
  return wrong(
    `another issuer: ${shown && isShowable(named) ? named : differenceOf(issuer, named)}`,
    'Set the issuer exactly as the provider spells it in its discovery document.',
  );
}

/** Whether the issuer contains only characters that are safe to show in a terminal. */
function isShowable(named: string): boolean {
  return /^https?:\/\/[\x21-\x7e]{1,200}$/.test(named) && URL.canParse(named);
}

function differenceOf(issuer: string, named: string): string {
  if (!URL.canParse(named)) return 'one that is not a URL';
  const [ours, theirs] = [new URL(issuer), new URL(named)];
  if (ours.host !== theirs.host) return 'one on another host';
  if (ours.protocol !== theirs.protocol) return 'one with another scheme';
  return 'one with another path or spelling';
}

/**
 * Whether the document names all endpoints, and idctl may connect to the token and userinfo
 * endpoints (security S9). If the issuer uses https, the authorization endpoint must too.
 */
export async function examineEndpoints(
  guard: Guard,
  { document }: Discovered,
): Promise<Finding<ProviderMetadata>> {
  const checked = metadataSchema.safeParse(document);
  if (!checked.success) {
    return wrong(
      `missing or malformed: ${spoiled(checked.error)}`,
      'Use a provider with these endpoints, or correct the discovery document.',
    );
  }
  const { data } = checked;
  if (data.issuer.startsWith('https:') && !data.authorization_endpoint.startsWith('https:')) {
    return wrong(
      'an authorization endpoint without https',
      'At the provider, offer the authorization endpoint over https.',
    );
  }
  for (const [name, url] of [
    ['token', data.token_endpoint],
    ['userinfo', data.userinfo_endpoint],
  ] as const) {
    const trouble = await troubleAt(guard, name, new URL(url));
    if (trouble !== null) return trouble;
  }
  return found(data, 'authorization, token and userinfo');
}

async function troubleAt(guard: Guard, name: string, url: URL) {
  try {
    await guard.resolve(url.hostname, wayOf(url));
    return null;
  } catch (error) {
    if (!isLookupError(error)) return unanswered(error, `the ${name} endpoint`);
    return wrong(
      `the host of the ${name} endpoint cannot be resolved`,
      'Check that this machine can resolve the host names of the provider.',
    );
  }
}
