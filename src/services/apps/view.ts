import type { OAuthApp } from '../../database/models/app.ts';
import { suspended } from '../tokens/suspended.ts';

/** An app as its owner and the operator see it. */
export function viewApp(app: OAuthApp) {
  const { id, name, clientId, createdAt } = app;
  return { id, name, clientId, createdAt: createdAt.toISOString(), ...suspended(app) };
}
