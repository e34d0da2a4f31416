import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { Membership } from '../../database/models/membership.ts';
import type { Organization } from '../../database/models/organization.ts';
import { Project } from '../../database/models/project.ts';
import { SsoAttempt } from '../../database/models/sso-attempt.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { requireAuthority } from '../authority/require.ts';
import { isUuid } from '../fields.ts';
import { type Because, type Plan, planMemberships } from './plan.ts';
import { readCurrent, readMappings } from './read.ts';
import type { previewMappingsInput } from './schema.ts';

type Input = z.output<typeof previewMappingsInput>;

/**
 * What a person's next sign-in would do to their memberships (spec §4.1): the same plan, nothing written.
 * The groups are those given, those of an attempt, or those of the person's last sign-in; who is no
 * member yet is planned for as somebody new. Refuses `groups_unknown` when no groups are known.
 */
export async function previewMappings(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, 'mappings.see', input.org);
  const connection = await SsoConnection.findOne({ where: { organizationId: organization.id } });
  const attempt = input.attempt === undefined ? null : await requireAttempt(connection, input.attempt);
  const user = input.user ?? attempt?.email;
  if (!user) throw refuseField('user', 'is required', 'Say for whom, by e-mail address or id.');
  const accountId = await findMember(organization, user);
  const groups = input.groups ?? (await knownGroups(connection, attempt, accountId, user));
  const current = accountId === null ? [] : await readCurrent(organization.id, accountId);
  const autoRemove = connection?.autoRemove ?? false;
  const plan = planMemberships(groups, await readMappings(organization.id), current, { autoRemove });
  return viewPlan(organization, plan);
}

async function requireAttempt(connection: SsoConnection | null, id: string): Promise<SsoAttempt> {
  const attempt = connection && (await SsoAttempt.findOne({ where: { id, connectionId: connection.id } }));
  if (attempt !== null) return attempt;
  throw new Refusal('not_found', `There is no attempt ${id}.`, {
    hint: 'idctl sso attempts shows the last ones.',
  });
}

/** Who is no member is nobody here: whether they have an account elsewhere is not told. */
async function findMember(organization: Organization, user: string): Promise<string | null> {
  const membership = await Membership.findOne({
    where: { organizationId: organization.id },
    include: {
      model: Account,
      as: 'account',
      required: true,
      where: isUuid(user) ? { id: user } : { email: user },
    },
  });
  return membership?.accountId ?? null;
}

async function knownGroups(
  connection: SsoConnection | null,
  attempt: SsoAttempt | null,
  accountId: string | null,
  user: string,
): Promise<string[]> {
  if (attempt !== null) {
    if (attempt.groups !== null) return attempt.groups;
    if (!attempt.groupsMalformed && connection?.absentGroups === 'none') return [];
    throw groupsUnknown(`The groups of the attempt ${attempt.id} are not known.`);
  }
  const identity =
    accountId === null || connection === null
      ? null
      : await Identity.findOne({ where: { connectionId: connection.id, accountId } });
  if (identity !== null && identity.lastGroups !== null) return identity.lastGroups;
  throw groupsUnknown(
    identity === null
      ? `${user} has never signed in through the connection.`
      : `The provider did not say the groups of ${user} at the last sign-in.`,
  );
}

function groupsUnknown(message: string): Refusal {
  return new Refusal('groups_unknown', message, {
    hint: 'Give the groups to plan with: --group NAME for each (or `groups`).',
  });
}

async function viewPlan(organization: Organization, plan: Plan) {
  const projects = await Project.findAll({ where: { organizationId: organization.id } });
  const byId = new Map(projects.map(({ id, slug }) => [id, { id, slug }]));
  const view = <Entry extends { projectId: string; because: Because | null }>({
    projectId,
    because,
    ...rest
  }: Entry) => ({
    project: byId.get(projectId) ?? { id: projectId, slug: projectId },
    ...rest,
    because: because && { group: because.group, mapping: because.mappingId },
  });
  return { adds: plan.adds.map(view), changes: plan.changes.map(view), removes: plan.removes.map(view) };
}
