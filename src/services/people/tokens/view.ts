import { z } from 'zod';
import {
  type AccessToken,
  tokenKinds,
  tokenScopes,
} from '../../../database/models/access-token.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

export const tokenView = z.object({
  id,
  name: z.string(),
  description: z.string().nullable(),
  prefix: z.string(),
  kind: z.enum(tokenKinds),
  scope: z.enum(tokenScopes),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  expiresAt: instant.nullable(),
  /** Only while it is suspended, because it came out of a backup. */
  suspendedAt: instant.optional(),
});
export const tokenPage = pageOf(tokenView);

/** The answer to making or regenerating a token; the value is not shown again. */
export const newTokenView = tokenView.extend({ token: z.string() });

/** A token as its owner and the operator see it. */
export function viewToken(token: AccessToken) {
  return {
    id: token.id,
    name: token.name,
    description: token.description,
    prefix: token.prefix,
    kind: token.kind,
    scope: token.scope,
    createdAt: token.createdAt.toISOString(),
    lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
    expiresAt: token.expiresAt?.toISOString() ?? null,
    ...suspended(token),
  };
}

/** The field that shows a suspension; absent if not suspended. */
export function suspended({ suspendedAt }: { suspendedAt: Date | null }): { suspendedAt?: string } {
  return suspendedAt ? { suspendedAt: suspendedAt.toISOString() } : {};
}
