import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ConnectionKindName } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { insertRows } from '../../../database/select.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { type Happening, recordEvents } from '../../foundation/events/record.ts';
import { deleteGiven, updateGiven, updateOrgRole } from './apply.sql.ts';
import { holdPeople, type PersonFacts, planPerson, readRules } from './facts.ts';
import type { Because, OrgRoleChange, Plan } from './plan.ts';

// Computes people's roles from all of their groups, and writes them.

/** The cause of changed groups: a sign-in through a connection, or SCIM. */
type Cause = ConnectionKindName | 'scim';

interface Planned {
  accountId: string;
  person: PersonFacts;
  plan: Plan;
  orgRole: OrgRoleChange | null;
}

/**
 * Recomputes and writes the roles of these people, with the events of each changed person. Returns
 * the number of changed people. Accounts that are not members are ignored. Call it inside a
 * transaction, after the groups or mappings have changed.
 */
export async function replanPeople(
  ctx: Context,
  organizationId: string,
  accountIds: readonly string[],
  cause: Cause,
): Promise<number> {
  if (accountIds.length === 0) return 0;
  // A person whose removal has begun must not join a project.
  await hold.accounts(accountIds);
  const rules = await readRules(organizationId);
  const people = await holdPeople(rules, accountIds);
  const planned: Planned[] = [];
  for (const [accountId, person] of people) {
    // Each person is compared with up to 10,000 mappings.
    await yieldToEventLoop();
    planned.push({ accountId, person, ...planPerson(rules, person) });
  }
  const real = await withoutGoneProjects(planned);
  // SQLite answers synchronously, so a chain of statements would block other requests.
  await yieldToEventLoop();
  await writeProjects(ctx, real);
  await yieldToEventLoop();
  await writeOrgRoles(organizationId, real);
  return recordPlans(ctx, organizationId, real, cause);
}

/**
 * The plans without projects that were just deleted. The other projects are locked against
 * deletion.
 */
async function withoutGoneProjects(planned: Planned[]): Promise<Planned[]> {
  const entries = planned.flatMap(({ plan }) => Object.values(plan).flat());
  const projects = await hold.keptProjects(entries.map(({ projectId }) => projectId));
  const isThere = ({ projectId }: { projectId: string }) => projects.has(projectId);
  return planned.map(({ plan: { adds, changes, removes, moves }, ...rest }) => {
    const plan = {
      adds: adds.filter(isThere),
      changes: changes.filter(isThere),
      removes: removes.filter(isThere),
      moves: moves.filter(isThere),
    };
    return { ...rest, plan };
  });
}

const originOf = (because: Because | null): Origin => ({ kind: 'mapping', ...because });

async function writeProjects(ctx: Context, planned: Planned[]): Promise<void> {
  const rows = planned.flatMap(({ accountId, plan }) =>
    plan.adds.map(({ projectId, role, because }) => ({
      project_id: projectId,
      account_id: accountId,
      role,
      synced: true,
      origin: originOf(because),
      joined_at: ctx.now,
    })),
  );
  await insertRows('project_memberships', rows);
  const changed = planned.flatMap(({ accountId, plan }) =>
    [...plan.changes, ...plan.moves].map(({ projectId, role, because }) => {
      return { accountId, set: { projectId, role, origin: originOf(because) } };
    }),
  );
  for (const some of Map.groupBy(changed, ({ set }) => JSON.stringify(set)).values()) {
    const [{ set } = { set: undefined }] = some;
    if (set === undefined) continue;
    await updateGiven(
      some.map(({ accountId }) => accountId),
      set,
    );
  }
  const removed = planned.flatMap(({ accountId, plan }) =>
    plan.removes.map(({ projectId }) => ({ accountId, projectId })),
  );
  for (const [projectId, some] of Map.groupBy(removed, (one) => one.projectId)) {
    await deleteGiven(
      some.map(({ accountId }) => accountId),
      projectId,
    );
  }
}

/** Writes organization roles. Keeps in the origin how the membership began (security O8). */
async function writeOrgRoles(organizationId: string, planned: Planned[]): Promise<void> {
  for (const { accountId, person, orgRole } of planned) {
    if (orgRole === null) continue;
    const { group: _, mappingId: __, source: ___, ...began } = person.orgRole.origin;
    const origin = { ...began, ...orgRole.because };
    await updateOrgRole(organizationId, accountId, { role: orgRole.to, origin });
  }
}

async function recordPlans(
  ctx: Context,
  organizationId: string,
  planned: Planned[],
  kind: Cause,
): Promise<number> {
  const changed = planned.filter(
    ({ plan, orgRole }) =>
      plan.adds.length + plan.changes.length + plan.removes.length > 0 ||
      (orgRole !== null && orgRole.from !== orgRole.to),
  );
  if (changed.length === 0) return 0;
  const accounts = await Account.findAll({
    where: { id: changed.map(({ accountId }) => accountId) },
  });
  const shown = await shownTo(organizationId, accounts);
  const names = new Map(accounts.map((account) => [account.id, shown(account).name]));
  const happenings = changed.flatMap(({ accountId: id, plan, orgRole }): Happening[] => {
    const subject = { type: 'user', id, name: names.get(id) ?? id };
    const adds = plan.adds.map(told);
    const changes = plan.changes.map(told);
    const removes = plan.removes.map(told);
    const synced = { kind: `${kind}.groups.synced` as const, subject };
    const inProjects = adds.length + changes.length + removes.length > 0;
    const role = orgRole === null || orgRole.from === orgRole.to ? null : orgRole;
    return [
      ...(inProjects ? [{ ...synced, data: { adds, changes, removes } }] : []),
      ...(role === null
        ? []
        : [{ kind: 'member.role.changed' as const, subject, data: told(role) }]),
    ];
  });
  await recordEvents(ctx, organizationId, happenings);
  return changed.length;
}

/** The entry as an event contains it: the cause does not name the connection. */
function told<Entry extends { because: Because | null }>({ because, ...rest }: Entry) {
  const { by: _, ...cause } = because ?? { by: '', group: '', mappingId: '' };
  return { ...rest, because: because && cause };
}
