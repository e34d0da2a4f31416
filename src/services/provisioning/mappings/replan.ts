import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { remembered } from '../../../host/memory.ts';
import { finishAll } from '../../../host/queue.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { inTurnOfJob } from '../../foundation/limits/turns.ts';
import { replanPeople } from './apply.ts';
import {
  findGroupsByExternalId,
  findGroupsNamed,
  findListed,
  findReplans,
  findSomeAccountsIn,
  hasGroups,
  insertReplans,
  type Listed,
  readAccountsIn,
  takeReplans,
} from './replan.sql.ts';

// Recomputes people's roles when groups or mappings change. For a few people, this happens in the
// transaction of the change. More people are put on a list, which a job processes in batches.

/** The maximum number of people whose roles a change recomputes in its own transaction. */
export const maxAtOnce = 50;
/**
 * The number of people whose roles the job recomputes in one transaction. Other changes to them
 * must wait.
 */
const batchSize = 20;

/** Puts these people on the job's list. */
export async function planLater(
  organizationId: string,
  accountIds: readonly string[],
): Promise<void> {
  const ids = accountIds.toSorted();
  for (let at = 0; at < ids.length; at += 100) {
    await insertReplans(organizationId, ids.slice(at, at + 100));
    await yieldToEventLoop();
  }
}

/** Puts all members of these SCIM groups on the job's list. */
export async function planMembersLater(
  organizationId: string,
  groupIds: readonly string[],
): Promise<void> {
  const accountIds = new Set<string>();
  for (const groupId of groupIds) {
    for (const accountId of await readAccountsIn(groupId)) accountIds.add(accountId);
  }
  await planLater(organizationId, [...accountIds]);
}

/**
 * Recomputes the roles of the members of the SCIM groups that these mappings name. Call it after
 * the mappings have changed, with the mappings locked. `later` leaves all members to the job: a
 * transaction that has locked the organization must not lock more accounts.
 */
export async function planMapped(
  ctx: Context,
  organizationId: string,
  mappings: readonly { group: string }[],
  later = false,
): Promise<void> {
  const groupIds = await findMapped(organizationId, mappings);
  if (groupIds.length === 0) return;
  if (later) return planMembersLater(organizationId, groupIds);
  const ids = await findSomeAccountsIn(groupIds, maxAtOnce + 1);
  if (ids.length <= maxAtOnce) await replanPeople(ctx, organizationId, ids, 'scim');
  else await planMembersLater(organizationId, groupIds);
}

/** The SCIM groups that the mappings name by display name or external id, exactly. */
async function findMapped(
  organizationId: string,
  mappings: readonly { group: string }[],
): Promise<string[]> {
  const names = new Set(mappings.map(({ group }) => group));
  if (!(await hasGroups(organizationId))) return [];
  const byName = await findGroupsNamed(organizationId, [...names]);
  const byExternalId = await findGroupsByExternalId(organizationId, [...names]);
  const found = [...byName.filter(({ name }) => names.has(name)), ...byExternalId];
  return [...new Set(found.map(({ id }) => id))].toSorted();
}

/** The organizations whose list a job of this process is working on. */
const plannedNow = remembered(() => new Set<string>());

/**
 * Recomputes the roles of the people on the list, in batches. Each batch takes its turn (security
 * O15). Records an event for each organization. Skips organizations that an earlier run is still
 * working on.
 */
export async function planWaiting(
  ctx: Context,
  { stop, anew, found }: { stop?: AbortSignal; anew: () => Context; found?: () => void },
): Promise<void> {
  const planning = plannedNow(ctx);
  const listed = await findListed();
  const organizations = listed.filter(({ id }) => !planning.has(id));
  for (const { id } of organizations) planning.add(id);
  const runs = organizations.map((organization) =>
    planAll(organization, anew, stop)
      .catch((cause: unknown) => {
        throw new Error(`roles from SCIM groups of ${organization.id} were not recomputed`, {
          cause,
        });
      })
      .finally(() => planning.delete(organization.id)),
  );
  found?.();
  await finishAll(runs);
}

/**
 * Recomputes the roles of the organization's people, and records how many, even if a batch fails.
 */
async function planAll(
  organization: Listed,
  anew: () => Context,
  stop: AbortSignal | undefined,
): Promise<void> {
  const { id } = organization;
  const told = { people: 0, changed: 0 };
  try {
    for (let isMore = true; isMore && !stop?.aborted; ) {
      const ctx = anew();
      // If a power failure undoes the commit, the people are on the list again.
      const batch = await inTurnOfJob(ctx, organization, () => unsynced(() => planBatch(ctx, id)));
      told.people += batch.people;
      told.changed += batch.changed;
      isMore = batch.listed === batchSize;
    }
  } finally {
    await tellEnd(anew(), { id, ...told });
  }
}

async function tellEnd(
  ctx: Context,
  { id: organizationId, ...told }: { id: string; people: number; changed: number },
): Promise<void> {
  if (told.people === 0) return;
  const end = { kind: 'scim.groups.planned' as const, organizationId, data: told };
  await transaction(() => recordEvent(ctx, end));
}

async function planBatch(ctx: Context, organizationId: string) {
  // A push does not lock entries that are already on the list. So this waits for pushes to commit.
  await hold.mappings(organizationId, 'alone');
  const listed = await findReplans(organizationId, batchSize);
  // Accounts come first: a change that has locked a person may add the person to the list.
  await hold.accounts(listed);
  // An account may have been deleted since the list was read.
  const ids = await takeReplans(organizationId, listed);
  const changed = await replanPeople(ctx, organizationId, ids, 'scim');
  return { listed: listed.length, people: ids.length, changed };
}
