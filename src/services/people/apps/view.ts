import { z } from 'zod';
import type { OAuthApp } from '../../../database/models/app.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import { suspended } from '../tokens/view.ts';

export const appView = z.object({
  id,
  name: z.string(),
  clientId: z.string(),
  organization: z
    .object({ id, slug: z.string() })
    .nullable()
    .describe(
      'The organization about whose tokens it may ask; without one every token is inactive.',
    ),
  createdAt: instant,
  /** Only while it is suspended, because it came out of a backup. */
  suspendedAt: instant.optional(),
});
export const appPage = pageOf(appView);

/** The answer to a registration; the secret is not shown again. */
export const newAppView = appView.extend({ clientSecret: z.string() });

/** An app as its owner and the operator see it, with its loaded or given organization. */
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
