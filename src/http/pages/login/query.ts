import { z } from 'zod';
import {
  canonicalDomain,
  canonicalEmail,
} from '../../../services/foundation/domain-names/canonical.ts';

/** The typed identifier and the address to return to. Each screen passes them to the next. */
export interface LoginQuery {
  identifier?: string | undefined;
  returnTo?: string | undefined;
}

/** The link to a screen, with the typed identifier and the address to return to. */
export function linkTo(
  path: string,
  { identifier, returnTo }: LoginQuery,
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams(more);
  if (identifier !== undefined) query.set('identifier', identifier);
  if (returnTo !== undefined) query.set('returnTo', returnTo);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Reads the typed text as an e-mail address or as a domain; null for any other text. */
export function identify(text: string): { email: string | null; domain: string } | null {
  const domain = canonicalDomain(text);
  const email = canonicalEmail(text);
  return domain === null || (email === null && text.includes('@')) ? null : { email, domain };
}

/** The schema of the address to return to. */
export const returnTo = z.string().max(2000, 'is too long').optional();
