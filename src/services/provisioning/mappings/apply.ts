import type { Context } from '../../../context.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import type { Because, Plan } from './plan.ts';

/**
 * Carries a plan out. Each write holds only if the membership is still what the plan saw, so that one
 * made manual meanwhile stays manual (spec §3.3).
 */
export async function applyPlan(
  ctx: Context,
  plan: Plan,
  of: { accountId: string; connectionId: string },
): Promise<void> {
  const { accountId } = of;
  const origin = (because: Because | null): Origin => ({ kind: 'mapping', by: of.connectionId, ...because });
  const joinedAt = ctx.now;
  await ProjectMembership.bulkCreate(
    plan.adds.map(({ projectId, role, because }) => {
      return { projectId, accountId, role, synced: true, origin: origin(because), joinedAt };
    }),
    { ignoreDuplicates: true },
  );
  for (const { projectId, role, because } of plan.changes) {
    const changed = { role, origin: origin(because) };
    await ProjectMembership.update(changed, { where: { projectId, accountId, synced: true } });
  }
  const projectId = plan.removes.map((entry) => entry.projectId);
  if (projectId.length > 0)
    await ProjectMembership.destroy({ where: { projectId, accountId, synced: true } });
}
