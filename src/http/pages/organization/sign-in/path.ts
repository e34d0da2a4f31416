import type { Visit } from '../../page.ts';

/** The page about how the people of an organization sign in. */
export const path = '/orgs/:org/sign-in';

/** The page behind a setup link, with some parts of that page. */
export const setupPath = '/setup';

/** Whether the visitor came by a setup link, and so has no other page of the organization. */
export function isBehindLink({ ctx }: Pick<Visit, 'ctx'>): boolean {
  return ctx.actor.kind === 'setupLink';
}

/** The address of that page for this visitor. */
export function pathOf(visit: Pick<Visit, 'ctx' | 'given'>): string {
  if (isBehindLink(visit)) return setupPath;
  return `/orgs/${encodeURIComponent(visit.given['org'] ?? '')}/sign-in`;
}
