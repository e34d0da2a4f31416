import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import {
  holdProject,
  requireAuthority,
  requireProjectAuthority,
  type Within,
} from '../../foundation/authority/require.ts';
import { readShown, type Shown, shownIn } from '../../foundation/authority/shown.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { isUuid, projectRole, ref, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { holdMembership } from '../memberships/membership.ts';
import { projectMemberView, viewProjectMember } from './view.ts';
import { writeProjectMembers } from './write-members.ts';

// Members of a project (spec §2.3).

const refInput = z.strictObject({ org: ref, project: ref, user: userRef });
const putInput = refInput.extend({ role: projectRole });

type Put = z.output<typeof putInput>;

type Person = Shown & { id: string };

/** Lists the members of the project, and how each came to belong to it. */
export const listProjectMembers = operation({
  authority: 'projectMembers.see',
  input: z.strictObject({ org: ref, project: ref, ...pageInput }),
  output: pageOf(projectMemberView),
  run: (_ctx, input, { organization, project }) =>
    readShown(
      organization.id,
      input,
      (after, limit) =>
        ProjectMembership.findAll({
          where: { projectId: project.id, accountId: { [Op.gt]: after } },
          // PostgreSQL may read accounts first, and does not derive this condition from the join.
          include: { model: Account, as: 'account', where: { id: { [Op.gt]: after } } },
          order: ['accountId'],
          limit,
        }),
      (row) => row.accountId,
      viewProjectMember,
    ),
});

/**
 * Gives a member of the organization a role in the project manually: group sync then leaves the
 * role alone (spec §3.3). Only the organization's admins may make a synced membership manual.
 */
export const putProjectMember = puts();

/** Like `putProjectMember`, but refuses with `already_exists` for a member of the project. */
export const addProjectMember = puts('absent');

/** Like `putProjectMember`, but refuses with `not_found` for a person outside the project. */
export const changeProjectMember = puts('present');

function puts(expected?: 'absent' | 'present') {
  return operation({
    authority: 'projectMembers.change',
    prove: (ctx, input) => requireProjectAuthority(ctx, rightFor(input.role), input),
    letsIn: ({ role }) => role === 'admin',
    input: putInput,
    output: projectMemberView,
    run: (ctx, input, within) => transaction(() => put(ctx, within, input, expected)),
  });
}

function rightFor(role: Put['role']) {
  return outranks(role, 'member') ? 'projectMembers.grantAdmin' : 'projectMembers.change';
}

async function put(ctx: Context, within: Within, input: Put, expected?: 'absent' | 'present') {
  const { organization, project } = within;
  // An account that leaves the organization must not stay in a project.
  const { account, shown } = await holdMembership(organization, input.user);
  const who = { id: account.id, ...shown };
  await holdProject(organization, project.id);
  const key = { projectId: project.id, accountId: account.id };
  const stored = await hold.projectMembership(key, 'whole');
  if (expected === 'absent' && stored !== null) throw alreadyIn(input, who);
  if (stored !== null) return change(ctx, within, { stored, who }, input);
  if (expected === 'present') {
    throw new Refusal('not_found', `${input.user} is not in ${input.project}.`);
  }
  return add(ctx, within, who, input.role);
}

function alreadyIn({ org, project }: Put, { email, name }: Shown): Refusal {
  return new Refusal('already_exists', `${email ?? name} is already in ${project}.`, {
    hint: {
      to: 'change the role',
      operation: 'project-member.role',
      with: { org, project, user: email ?? undefined },
    },
  });
}

async function add(ctx: Context, within: Within, who: Person, role: Put['role']) {
  const { organization, project } = within;
  await writeProjectMembers(ctx, organization.id, [{ project, who, role, stored: null }]);
  const key = { projectId: project.id, accountId: who.id };
  return viewProjectMember(
    await ProjectMembership.findOne({ where: key, rejectOnEmpty: true }),
    who,
  );
}

async function change(
  ctx: Context,
  { organization, project }: Within,
  { stored, who }: { stored: ProjectMembership; who: Person },
  { org, role }: Put,
) {
  if (stored.synced) await requireAuthority(ctx, 'projectMembers.changeSynced', org);
  else if (stored.role === role) return viewProjectMember(stored, who);
  await writeProjectMembers(ctx, organization.id, [{ project, who, role, stored }]);
  return viewProjectMember(await stored.reload(), who);
}

/** Removes a member from the project. Only the organization's admins may remove a synced one. */
export const removeProjectMember = operation({
  authority: 'projectMembers.change',
  input: refInput,
  output: projectMemberView,
  ends: {
    ask: ({ email, name }, { project }) => `Remove ${email ?? name} from ${project}?`,
    effects: comingBack,
    done: (view, { project }) => [
      `Removed ${view.email ?? view.name} from ${project}.`,
      ...comingBack(view),
    ],
  },
  run: (ctx, input, { organization, project }) =>
    transaction(async () => {
      const { membership, account } = await holdProjectMembership(project.id, input);
      const { role, synced } = membership;
      if (synced) await requireAuthority(ctx, 'projectMembers.changeSynced', input.org);
      const shown = await shownIn(organization.id, account);
      await membership.destroy();
      await recordEvent(ctx, {
        kind: 'project.member.removed',
        ...eventAbout('user', { id: account.id, name: shown.name }, organization.id),
        data: { project: project.slug, role, ...(synced ? { wasSynced: true } : {}) },
      });
      return viewProjectMember(membership, shown);
    }),
});

async function holdProjectMembership(
  projectId: string,
  { user, project }: z.output<typeof refInput>,
): Promise<{ membership: ProjectMembership; account: Account }> {
  const account = await Account.findOne({ where: isUuid(user) ? { id: user } : { email: user } });
  if (account !== null) await hold.account(account.id);
  const membership =
    account && (await hold.projectMembership({ projectId, accountId: account.id }, 'whole'));
  if (account === null || membership === null)
    throw new Refusal('not_found', `${user} is not in ${project}.`);
  return { membership, account };
}

function comingBack({ synced }: { synced: boolean }): string[] {
  return synced ? ['Group sync adds them again at the next sign-in.'] : [];
}
