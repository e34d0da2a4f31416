import type { AccessToken } from '../../../database/models/access-token.ts';
import { suspended } from './suspended.ts';

/** A token as its owner and the operator see it; its value is known to whoever was shown it. */
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
