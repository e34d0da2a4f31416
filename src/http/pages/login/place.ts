import { z } from 'zod';
import {
  canonicalDomain,
  canonicalEmail,
} from '../../../services/foundation/domain-names/canonical.ts';

/** The typed identifier and the address to return to, which travel from screen to screen. */
export interface LoginPlace {
  identifier?: string | undefined;
  returnTo?: string | undefined;
}

/** The link to a screen, with the typed identifier and the address to return to. */
export function linkTo(
  path: string,
  { identifier, returnTo }: LoginPlace,
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams(more);
  if (identifier !== undefined) query.set('identifier', identifier);
  if (returnTo !== undefined) query.set('returnTo', returnTo);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Reads the typed text as an address or as a company's domain alone; null for anything else. */
export function identify(text: string): { email: string | null; domain: string } | null {
  const domain = canonicalDomain(text);
  const email = canonicalEmail(text);
  return domain === null || (email === null && text.includes('@')) ? null : { email, domain };
}

/** The form field with the address to return to. */
export const returnTo = z.string().max(2000, 'is not known here').optional();
