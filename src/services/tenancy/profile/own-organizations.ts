import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../context.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { readOwnOrganizations, readOwnProjects } from './own-organizations.sql.ts';

const maxInNavigation = 50;
const maxProjects = 50;
const maxOrganizations = 200;
const maxProjectsEach = 20;

/**
 * The caller's organizations by name, at most 50. If there are more, the one with the id or slug
 * `here` is kept.
 */
export function listOwnOrganizations(ctx: Context, here: string | undefined) {
  const { accountId } = requireUser(ctx, 'me.see');
  return readOwnOrganizations(accountId, { limit: maxInNavigation, here });
}

/** The caller's first 50 projects in the organization, and how many more there are. */
export function listOwnProjects(ctx: Context, organizationId: string) {
  const { accountId } = requireUser(ctx, 'me.see');
  return readOwnProjects(accountId, organizationId, maxProjects);
}

/**
 * The account's first 200 organizations by name, each with its first 20 projects, how many more
 * there are, and the groups that gave the roles.
 */
export async function describeOrganizations(accountId: string) {
  const found = await readOwnOrganizations(accountId, { limit: maxOrganizations + 1 });
  const organizations = [];
  for (const { id, slug, name, role, ...by } of found.slice(0, maxOrganizations)) {
    const { projects, more } = await readOwnProjects(accountId, id, maxProjectsEach);
    const shown = projects.map((project) => {
      return { slug: project.slug, role: project.role, group: groupOf(project) };
    });
    organizations.push({ slug, name, role, group: groupOf(by), projects: shown, more });
    await yieldToEventLoop();
  }
  return { organizations, hasMore: found.length > maxOrganizations };
}

/** The group that gave a synced role, in words; null without one. */
function groupOf({ synced, origin: { group, source } }: { synced: boolean; origin: Origin }) {
  if (!synced || group === undefined) return null;
  return `${source === 'scim' ? 'provisioned group' : 'group'} ${group}`;
}
