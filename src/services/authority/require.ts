import type { Actor, Context } from '../../context.ts';
import { Membership, type Role, roles } from '../../database/models/membership.ts';
import { Organization } from '../../database/models/organization.ts';
import { Refusal } from '../../errors.ts';
import { isUuid } from '../fields.ts';

// Who may do what (interface page). Every operation's first line is one of these; what it returns is
// what has been proved.

/** What the actor has been proved to be in an organization. */
export interface Standing {
  organization: Organization;
  /** The operator stands above every role. */
  role: Role | 'operator';
}

/** Proves the operator: whoever may read the database and the key file. */
export function requireOperator(ctx: Context): void {
  if (ctx.actor.kind === 'operator') return;
  requireSomeone(ctx.actor);
  throw new Refusal('forbidden', 'Only the operator may do this.', {
    hint: 'Run it with idctl on the host.',
  });
}

/** Proves a signed-in person. */
export function requireUser(ctx: Context): Actor & { kind: 'user' } {
  if (ctx.actor.kind === 'user') return ctx.actor;
  requireSomeone(ctx.actor);
  throw new Refusal('forbidden', 'Only a signed-in person has this.');
}

/** Proves a member of the organization; everyone else learns no more than that it is not theirs. */
export const requireMember = (ctx: Context, org: string) => requireRole(ctx, org, 'member');

/** Proves an admin or owner of the organization. */
export const requireAdmin = (ctx: Context, org: string) => requireRole(ctx, org, 'admin');

/** Proves an owner of the organization. */
export const requireOwner = (ctx: Context, org: string) => requireRole(ctx, org, 'owner');

/** Whether the standing reaches the role. */
function reaches(standing: Pick<Standing, 'role'>, least: Role): boolean {
  return standing.role === 'operator' || roles.indexOf(standing.role) >= roles.indexOf(least);
}

async function requireRole(ctx: Context, org: string, least: Role): Promise<Standing> {
  requireSomeone(ctx.actor);
  const organization = await Organization.findOne({
    where: isUuid(org) ? { id: org.toLowerCase() } : { slug: org },
  });
  const role = organization === null ? null : await roleIn(ctx.actor, organization.id);
  if (organization === null || role === null) {
    throw new Refusal('not_found', `There is no organization ${JSON.stringify(org)}.`);
  }
  if (reaches({ role }, least)) return { organization, role };
  throw new Refusal('forbidden', `This needs the role ${least} in ${organization.slug}.`);
}

async function roleIn(actor: Actor, organizationId: string): Promise<Standing['role'] | null> {
  if (actor.kind === 'operator') return 'operator';
  if (actor.kind !== 'user') return null;
  const membership = await Membership.findOne({ where: { organizationId, accountId: actor.accountId } });
  return membership?.role ?? null;
}

function requireSomeone(actor: Actor): void {
  if (actor.kind === 'anonymous') throw new Refusal('unauthenticated', 'Sign in first.');
}
