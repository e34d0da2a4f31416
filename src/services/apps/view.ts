import type { OAuthApp } from '../../database/models/app.ts';

/** An app as its owner and the operator see it. */
export function viewApp({ id, name, clientId, createdAt }: OAuthApp) {
  return { id, name, clientId, createdAt: createdAt.toISOString() };
}
