import type { OAuthApp } from '../../../database/models/app.ts';
import { suspended } from '../tokens/suspended.ts';

/** An app as its owner and the operator see it, with the organization that was read with it or is given. */
export function viewApp(app: OAuthApp, organization = app.organization ?? null) {
  const { id, name, clientId, createdAt } = app;
  const asksFor = organization === null ? null : { id: organization.id, slug: organization.slug };
  return {
    id,
    name,
    clientId,
    organization: asksFor,
    createdAt: createdAt.toISOString(),
    ...suspended(app),
  };
}
