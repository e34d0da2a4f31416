import { z } from 'zod';
import {
  canonicalDomain,
  canonicalEmail,
} from '../../../services/foundation/domain-names/canonical.ts';

/** Who signs in, as typed, and where they go on to: what travels from screen to screen. */
export interface LoginPlace {
  identifier?: string | undefined;
  returnTo?: string | undefined;
}

/** The link to a screen at the same place. */
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

/** What was typed, as an address, or as a company's domain alone; null for anything else. */
export function identify(text: string): { email: string | null; domain: string } | null {
  const domain = canonicalDomain(text);
  const email = canonicalEmail(text);
  return domain === null || (email === null && text.includes('@')) ? null : { email, domain };
}

/** The field of a form that says where to go on to. */
export const returnTo = z.string().max(2000, 'is not known here').optional();
