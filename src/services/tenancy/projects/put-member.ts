import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireProject } from '../../foundation/authority/project.ts';
import {
  requireAuthority,
  requireProjectAuthority,
  type Within,
} from '../../foundation/authority/require.ts';
import type { Shown } from '../../foundation/authority/shown.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { requireMembership } from '../memberships/find.ts';
import { byHand } from '../memberships/origin.ts';
import type { putProjectMemberInput } from './schema.ts';
import { viewProjectMember } from './view.ts';

type Input = z.output<typeof putProjectMemberInput>;

/** A member, as the organization sees them. */
type Person = Shown & { id: string };

/**
 * Gives a member of the organization a role in the project, by hand: from then on group sync leaves it alone
 * (spec §3.3). Turning a synced membership into such a one is for the organization's admins.
 */
export async function putProjectMember(ctx: Context, input: Input, expected?: 'absent' | 'present') {
  const operation = outranks(input.role, 'member') ? 'projectMembers.grantAdmin' : 'projectMembers.change';
  const within = await requireProjectAuthority(ctx, operation, input);
  return transaction(async () => {
    // Held until the end, so that nobody who is just being taken out of the organization stays in a project of it.
    const { account, shown } = await requireMembership(within.organization, input.user, { hold: true });
    const who = { id: account.id, ...shown };
    await requireProject(within.organization, within.project.id, { lock: Transaction.LOCK.KEY_SHARE });
    const key = { projectId: within.project.id, accountId: account.id };
    const stored = await ProjectMembership.findOne({ where: key, lock: true });
    if (expected === 'absent' && stored !== null) throw alreadyIn(input, who);
    if (stored === null) {
      if (expected === 'present') throw new Refusal('not_found', `${input.user} is not in ${input.project}.`);
      return add(ctx, within, who, input.role);
    }
    return change(ctx, within, { stored, who }, input);
  });
}

function alreadyIn({ project }: Input, { email, name }: Shown): Refusal {
  return new Refusal('already_exists', `${email ?? name} is in ${project} already.`, {
    hint: 'idctl project-member role changes what they may do.',
  });
}

async function add(ctx: Context, { organization, project }: Within, who: Person, role: Input['role']) {
  const membership = await ProjectMembership.create({
    projectId: project.id,
    accountId: who.id,
    role,
    synced: false,
    origin: byHand(ctx.actor),
    joinedAt: ctx.now,
  });
  await recordEvent(ctx, {
    kind: 'project.member.added',
    organizationId: organization.id,
    subject: { type: 'user', id: who.id, name: who.name },
    data: { project: project.slug, role, origin: membership.origin.kind },
  });
  return viewProjectMember(membership, who);
}

async function change(
  ctx: Context,
  { organization, project }: Within,
  { stored, who }: { stored: ProjectMembership; who: Person },
  { org, role }: Input,
) {
  const { role: from, synced } = stored;
  if (synced) await requireAuthority(ctx, 'projectMembers.changeSynced', org);
  else if (from === role) return viewProjectMember(stored, who);
  await stored.update({ role, ...(synced ? { synced: false, origin: byHand(ctx.actor) } : {}) });
  await recordEvent(ctx, {
    kind: 'project.member.role.changed',
    organizationId: organization.id,
    subject: { type: 'user', id: who.id, name: who.name },
    data: { project: project.slug, from, to: role, ...(synced ? { wasSynced: true } : {}) },
  });
  return viewProjectMember(stored, who);
}
