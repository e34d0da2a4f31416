import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { nextParts, nextText } from '../../../next.ts';
import { requireProject } from '../../foundation/authority/require.ts';
import { email, instant, projectRole, ref, role } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import { previewNext, previewView } from '../../provisioning/mappings/preview.ts';
import { originOfRole, originView } from '../../tenancy/memberships/membership.ts';
import { findMember, hasTombstone } from '../../tenancy/memberships/memberships.sql.ts';
import { isFormerAddress } from '../../tenancy/memberships/removed.ts';
import { findKeptGroups } from '../../tenancy/scim-records/record.sql.ts';
import { offeredMethod } from '../../tenancy/signin-settings/methods.ts';
import { attemptKinds } from './attempts.ts';
import { setScene } from './scene.ts';
import { findWays } from './ways.ts';
import { blocksOf, ruleText } from './words.ts';

const way = z.object({
  method: offeredMethod,
  on: z.boolean().describe('Whether the way is switched on and set up for the address.'),
  could: z
    .boolean()
    .nullable()
    .describe(
      'Whether the person could sign in this way now, with the right proof and the same identity as before; true if only a second factor is missing. Null means not shown: the person is not a member, SCIM added them at a foreign address, or another organization has the connection.',
    ),
  rule: z.string().describe('The rule or setting that decides.'),
});

export const explainView = z.object({
  ways: z.array(way),
  member: z
    .object({ role, origin: originView })
    .nullable()
    .describe('The membership; null for a person who is not a member.'),
  keptGroups: z
    .array(z.string())
    .nullable()
    .default(null)
    .describe('The groups that SCIM keeps for a person that it shows as deactivated; else null.'),
  projects: z.array(z.object({ slug: z.string(), role: projectRole, origin: originView })),
  blocks: z
    .array(
      z.object({
        code: z.string(),
        message: nextText,
        next: nextParts.optional(),
        until: instant.optional(),
      }),
    )
    .describe('The obstacles of the ways that are on, and what to do about each.'),
  next: previewView
    .omit({ groups: true })
    .nullable()
    .describe(
      'The membership changes at the next sign-in, based on the groups of the last sign-in and of SCIM; null if no groups are known.',
    ),
  attempts: z
    .array(
      z.object({
        of: z.enum(attemptKinds),
        network: z
          .string()
          .nullable()
          .describe(
            'The only network that is counted, where the person has signed in; null means all others.',
          ),
        used: z.int(),
        most: z.int(),
        until: instant.nullable().describe('The limit is full until then.'),
      }),
    )
    .nullable()
    .describe('The current rate-limit counts for this address; null if they are hidden.'),
});

/**
 * Explains how a person could sign in now, and what their sign-in would change. Read-only. An admin
 * learns only about people that the organization knows. For any other address, the answer and the
 * rows read are the same, with or without an account. The operator learns about every account.
 */
export const explain = operation({
  authority: 'members.explain',
  input: z.strictObject({ org: ref, user: email, project: ref.optional() }),
  output: explainView,
  hints: true,
  run: async (ctx, input, { organization, role }) => {
    const project =
      input.project === undefined ? null : await requireProject(organization, input.project);
    const standing = await findStanding(ctx, organization, input.user);
    const everywhere = role === 'operator';
    const isKnown = standing.accountId !== null && !standing.pushed;
    const account = everywhere || isKnown ? await findByEmail(input.user) : undefined;
    const { removed } = standing;
    const keptGroups = await findKeptGroups(organization.id, input.user);
    const asked = { organization, email: input.user, account, removed, keptGroups, everywhere };
    const scene = await setScene(ctx, asked);
    const ways = await findWays(ctx, scene);
    const { accountId } = standing;
    const next = accountId === null ? null : await previewNext(organization, accountId);
    const inProject = (slug: string) => project === null || project.slug === slug;
    const projects = accountId === null ? [] : await listProjects(organization, accountId);
    return {
      ways: ways.map((each) => {
        const { method, on, could } = each;
        return { method, on, could, rule: ruleText(ctx, scene, each) };
      }),
      member: await showMember(organization, accountId),
      keptGroups,
      projects: projects.filter(({ slug }) => inProject(slug)),
      blocks: blocksOf(scene, ways),
      next: next && {
        adds: next.adds.filter((each) => inProject(each.project.slug)),
        changes: next.changes.filter((each) => inProject(each.project.slug)),
        removes: next.removes.filter((each) => inProject(each.project.slug)),
        orgRole: project === null ? next.orgRole : null,
      },
      attempts: account === undefined ? null : viewAttempts(scene.attempts, everywhere),
    };
  },
});

/** The facts that the organization itself knows of the person. */
interface Standing {
  /** Null for a person who is not a member. */
  accountId: string | null;
  /** Whether SCIM pushed the membership for an unverified domain. If so, the account is hidden. */
  pushed: boolean;
  removed: boolean;
}

/**
 * Reads only accounts that the organization knows, so that the response time does not reveal
 * others.
 */
async function findStanding(
  ctx: Context,
  { id }: Organization,
  address: string,
): Promise<Standing> {
  const member = await findMember(ctx, id, address);
  return {
    accountId: member?.id ?? null,
    pushed: member?.pushed ?? false,
    removed:
      (await hasTombstone(id, address)) ||
      (member === null && (await isFormerAddress(ctx, id, address))),
  };
}

async function showMember({ id: organizationId }: Organization, accountId: string | null) {
  if (accountId === null) return null;
  const membership = await Membership.findOne({ where: { organizationId, accountId } });
  return membership && { role: membership.role, origin: originOfRole(membership) };
}

async function listProjects({ id: organizationId }: Organization, accountId: string) {
  const rows = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
  });
  return rows
    .map(({ project, role, origin }) => ({ slug: project.slug, role, origin }))
    .toSorted((one, other) => (one.slug < other.slug ? -1 : 1));
}

/** The counts above zero. Networks are private: only the operator sees their counts. */
function viewAttempts(attempts: Awaited<ReturnType<typeof setScene>>['attempts'], all: boolean) {
  return attempts
    .filter(({ used, network }) => used > 0 && (all || network === null))
    .map(({ of, network, used, most, until }) => {
      return { of, network, used, most, until: until?.toISOString() ?? null };
    });
}
