import type { Actor, Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { TokenScope } from '../../../database/models/access-token.ts';
import { type Role, roles } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project, type ProjectRole } from '../../../database/models/project.ts';
import type { SetupPart } from '../../../database/models/setup-link.ts';
import { Refusal } from '../../../errors.ts';
import { isUuid } from '../fields.ts';
import { outranks } from '../project-roles.ts';
import { findLiving } from './setup-links.sql.ts';
import { rightsOfParts } from './setup-parts.ts';
import { findStanding } from './standing.sql.ts';
import {
  authority,
  type OrganizationRight,
  type OwnRight,
  type ProjectRight,
  type Right,
  type Rule,
  ruleOf,
} from './table.ts';

// Each operation that is not public begins with one of these calls, and uses the result.

/** The actor's role in an organization, as checked. */
export interface Standing {
  organization: Organization;
  /** The operator ranks above every role. */
  role: Role | 'operator';
}

/** The actor's role in an organization, as checked, and the project in question. */
export interface Within extends Standing {
  project: Project;
}

/** Requires that the actor is the operator, who can read the database and the key file. */
export function requireOperator(ctx: Context): void {
  if (ctx.actor.kind === 'operator') return;
  requireSomeone(ctx.actor);
  throw new Refusal('forbidden', 'Only the operator may do this.', {
    hint: { technical: 'Run it with idctl on the host.' },
  });
}

/** Requires that the actor is a person who may do this with their own data. */
export function requireUser(ctx: Context, operation: OwnRight): Actor & { kind: 'user' } {
  return requirePerson(ctx, operation);
}

/** Requires that the actor is a person with a credential that is enough for the operation. */
export function requireCaller(ctx: Context, operation: Right): void {
  requirePerson(ctx, operation);
}

/** Like `requireCaller`; returns the person. */
export function requirePerson(ctx: Context, operation: Right): Actor & { kind: 'user' } {
  requireSomeone(ctx.actor);
  if (ctx.actor.kind !== 'user')
    throw new Refusal('forbidden', 'Only a signed-in person can do this.');
  requireCredential(ctx, operation);
  return ctx.actor;
}

/** Requires that the actor is the SCIM client of the organization with this id; returns the id. */
export function requireScim({ actor }: Context, org: string): string {
  if (actor.kind === 'scim' && actor.organizationId === org) return org;
  throw new Refusal('unauthenticated', 'This needs the SCIM token of the organization.');
}

/** Requires that the actor may do this in the organization. An outsider gets `not_found`. */
export async function requireAuthority(
  ctx: Context,
  operation: OrganizationRight,
  org: string,
): Promise<Standing> {
  const standing = await requireStanding(ctx, { org });
  if (ctx.actor.kind === 'setupLink') requirePart(ctx.actor.parts, operation);
  else if (!isAllowed(standing.role, operation)) throw notAllowed(standing, operation);
  requireCredential(ctx, operation);
  return standing;
}

/**
 * Requires the right again. Call it at the end of a transaction that writes after a wait, because
 * the role or the setup link may have ended during the wait (security O13).
 */
export async function requireStill(
  ctx: Context,
  operation: OrganizationRight,
  { id }: Pick<Organization, 'id'>,
): Promise<void> {
  if (ctx.actor.kind === 'setupLink') await hold.setupLink(ctx.actor.id);
  await requireAuthority(ctx, operation, id);
}

/** Requires that a setup link may do this: its role alone does not give a right (security O13). */
function requirePart(parts: readonly SetupPart[], operation: OrganizationRight): void {
  if (rightsOfParts(parts).has(operation)) return;
  throw new Refusal('forbidden', 'This setup link does not include that.', {
    hint: 'Ask an owner of the organization for another link.',
  });
}

/** Requires that the actor may do this in the project, by a role there or in the organization. */
export async function requireProjectAuthority(
  ctx: Context,
  operation: ProjectRight,
  at: { org: string; project: string },
): Promise<Within> {
  if (ctx.actor.kind === 'setupLink')
    throw new Refusal('forbidden', 'A setup link does not open projects.');
  const { organization, role, project, projectRole } = await requireStanding(ctx, at);
  const allowed =
    isAllowed(role, operation) || (projectRole !== null && isEnoughInside(projectRole, operation));
  // The refusal comes first: outsiders must not learn whether the project exists.
  if (!allowed) throw notAllowed({ organization }, operation);
  if (project === null) throw noProject(at.project);
  requireCredential(ctx, operation);
  return { organization, role, project };
}

/** Whether the role in the organization is enough for the operation. */
export function isAllowed(role: Standing['role'], operation: OrganizationRight | ProjectRight) {
  return role === 'operator' || roles.indexOf(role) >= roles.indexOf(authority[operation].least);
}

/** Whether the role in the project is enough for the operation. */
export function isEnoughInside(role: ProjectRole, operation: ProjectRight): boolean {
  return !outranks(authority[operation].orInProject, role);
}

function notAllowed({ organization }: Pick<Standing, 'organization'>, operation: Right): Refusal {
  const { least, orInProject } = ruleOf(operation);
  const otherwise = orInProject === undefined ? '' : `, or ${orInProject} in the project`;
  return new Refusal(
    'forbidden',
    `This needs the role ${least} in ${organization.slug}${otherwise}.`,
  );
}

async function requireStanding(ctx: Context, at: { org: string; project?: string }) {
  const { actor } = ctx;
  requireSomeone(actor);
  const found = await findStanding(actor.kind === 'user' ? actor.accountId : null, at);
  const role = found === null ? null : await roleIn(ctx, found);
  if (found !== null && role !== null) return { ...found, role };
  throw new Refusal('not_found', `There is no organization ${JSON.stringify(at.org)}.`, {
    hint: { to: 'list them', operation: 'org.list' },
  });
}

async function roleIn(
  { actor, now }: Context,
  { organization, role }: { organization: Organization; role: Role | null },
): Promise<Standing['role'] | null> {
  if (actor.kind === 'operator') return 'operator';
  if (actor.kind === 'setupLink') {
    // Read again, because a request that waits for a server may outlive its link.
    const link = await findLiving('id', actor.id, now);
    // What it saves waits for an owner, as what an admin saves (security I8).
    return link?.organizationId === organization.id ? 'admin' : null;
  }
  return role;
}

/** Requires a session or, if a token is enough, a token with the right scope. */
function requireCredential({ actor, config }: Context, operation: Right): void {
  if (actor.kind !== 'user' || actor.via === 'session') return;
  const { session, effect } = ruleOf(operation);
  const lifted = session === 'usually' && config.tokens.manageCredentials === 'on';
  if (session !== undefined && !lifted) {
    throw new Refusal('session_required', 'A token may not do this.', {
      hint: 'Sign in, and use that session instead.',
    });
  }
  if (!effectsOf[actor.scope].includes(effect)) throw scopeRequired(actor, effect);
}

/** The effects that each token scope allows (security P15). */
const effectsOf: Record<TokenScope, Rule['effect'][]> = {
  read: ['reads'],
  write: ['reads', 'changes'],
  admin: ['reads', 'changes', 'letsIn'],
};

function scopeRequired(
  { scope, via }: { scope: TokenScope; via: 'pat' | 'bot' },
  effect: Rule['effect'],
): Refusal {
  if (effect === 'changes') {
    return new Refusal('scope_required', `A token with scope ${scope} cannot change anything.`, {
      hint: 'Use a token with scope write, or a session.',
    });
  }
  const which = via === 'bot' ? 'a personal access token' : 'a token';
  return new Refusal(
    'scope_required',
    `This gives others access. A token with scope ${scope} cannot do that.`,
    {
      hint: [
        { technical: `Use a session, or ${which} with scope admin.` },
        {
          say: 'The operator can create one',
          by: 'operator',
          operation: 'pat.create',
          with: { scope: 'admin' },
        },
      ],
    },
  );
}

function requireSomeone(actor: Actor): void {
  if (actor.kind === 'anonymous') throw new Refusal('unauthenticated', 'Sign in first.');
}

function whereProject({ id: organizationId }: Pick<Organization, 'id'>, project: string) {
  const named = isUuid(project) ? { id: project.toLowerCase() } : { slug: project };
  return { organizationId, ...named };
}

/** The organization's project of this id or slug; refuses with `not_found`. */
export async function requireProject(
  organization: Pick<Organization, 'id'>,
  project: string,
): Promise<Project> {
  const found = await Project.findOne({ where: whereProject(organization, project) });
  if (found === null) throw noProject(project);
  return found;
}

/** Like `requireProject`. The project cannot be deleted until the transaction ends. */
export async function holdProject(
  organization: Pick<Organization, 'id'>,
  project: string,
  how: 'kept' | 'whole' = 'kept',
): Promise<Project> {
  const found = await hold.project(whereProject(organization, project), how);
  if (found === null) throw noProject(project);
  return found;
}

/** The refusal for a project that does not exist. */
export function noProject(project: string): Refusal {
  return new Refusal('not_found', `There is no project ${JSON.stringify(project)}.`, {
    hint: { to: 'list them', operation: 'project.list' },
  });
}
