import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { refusingDuplicate } from '../../../../database/unique.ts';
import { ownsAddress } from '../../../foundation/domain-names/owns.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import {
  calledBy,
  emailOf,
  type Named,
  nameOf,
  resourceOf,
} from '../../../foundation/scim-user/resource.ts';
import { renameAccount } from '../../../people/accounts/accounts.sql.ts';
import { attachAddress } from '../../../tenancy/identities/attach.ts';
import { recordRenamed } from '../../../tenancy/scim-records/member.ts';
import {
  type Entry,
  findRecordNamed,
  type Held,
  requireHeld,
} from '../../../tenancy/scim-records/record.sql.ts';
import { changeRecord } from '../../../tenancy/scim-records/write.sql.ts';
import { about, activateMember, deactivateMember, reclaimHeld } from './membership.ts';
import { type AtUser, notUnique, requireMatch } from './present.ts';

/** The new state of a resource. */
export type Decided = Named & { active: boolean };

/**
 * Changes one User. `decide` computes its new state from the current state and the record. Record,
 * membership and account change in one transaction. Without a difference, version and lastModified
 * stay, and no event is recorded.
 */
export async function changeUser(
  ctx: Context,
  organizationId: string,
  { id, ifMatch }: Pick<AtUser, 'id' | 'ifMatch'>,
  decide: (current: Decided, record: Entry) => Decided,
): Promise<Entry> {
  const changing = transaction(async () => {
    const held = await requireHeld(organizationId, id);
    requireMatch(ifMatch, held.record.version);
    // The record as the client saw it, before `reclaimHeld` may change it.
    const seen = { ...held.record };
    const decided = () => decide({ ...resourceOf(held.record), active: held.record.active }, seen);
    const becoming = decided();
    const joins = becoming.active && !held.record.active;
    // If no client has written this member's record yet, reclaiming rewrites it.
    const renamed = joins && (await reclaimHeld(ctx, held, nameSaid(held.record, becoming)));
    await apply(ctx, held, renamed ? decided() : becoming);
    return held.record;
  });
  return refusingDuplicate(changing, { message: 'A User with this userName already exists.' });
}

/** The person's name from the client. Null if the client sent only the account's name back. */
function nameSaid(record: Entry, becoming: Named): string | null {
  const name = nameOf(becoming);
  return record.link === 'member' && name === nameOf(resourceOf(record)) ? null : name;
}

async function apply(ctx: Context, held: Held, { active, ...rest }: Decided): Promise<void> {
  const { record } = held;
  const { active: _, ...before } = resourceOf(record);
  const resource = rest as Named; // TypeScript loses the named members of a rest.
  const [rewritten, toggled] = [!isDeepStrictEqual(before, resource), active !== record.active];
  if (!rewritten && !toggled) return;
  if (fold(resource.userName) !== fold(record.userName)) await requireFreeName(record, resource);
  const link = record.link === 'member' && rewritten ? 'adopted' : record.link;
  if (rewritten) await followResource(ctx, held, resource);
  await changeRecord(ctx, record, { active, link, ...(rewritten ? { resource } : {}) });
  if (rewritten) {
    await recordEvent(ctx, {
      ...about(held, 'scim.user.updated'),
      data: changes(before, resource),
    });
  }
  if (toggled && active) await activateMember(ctx, held, 'member.added');
  if (toggled && !active) await deactivateMember(ctx, held);
}

async function requireFreeName(record: Entry, resource: Named): Promise<void> {
  const holder = await findRecordNamed(record.organizationId, resource.userName);
  if (holder !== null && holder.id !== record.id) throw notUnique(resource.userName);
}

/** The names of the attributes that differ, without their values. */
function changes(before: object, after: object): { attributes: string[] } {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = new Set([...was.keys(), ...is.keys()]);
  return {
    attributes: [...names].filter((name) => !isDeepStrictEqual(was.get(name), is.get(name))),
  };
}

/**
 * Applies a change of the record to an account that was created for it. An account without an
 * address gets the record's address. The account gets the new name if the organization has verified
 * the domain. The organization may change nothing else of the account (security I4). Call this
 * before the record changes: account creation also locks addresses before names, and this fixed
 * order avoids deadlocks.
 */
export async function followResource(ctx: Context, { record, account }: Held, resource: Named) {
  if (record.link !== 'created') return;
  const { organizationId } = record;
  const email = emailOf(resource);
  if (email !== null && account.email === null)
    await attachAddress(ctx, account, { organizationId, email });
  const name = calledBy(resource);
  if (nameOf(resource) === null || name === account.name) return;
  if (!(await ownsAddress(organizationId, account.email))) return;
  await renameAccount(account.id, name);
  await recordRenamed(ctx, { ...account, name });
}
