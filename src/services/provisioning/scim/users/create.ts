import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../../../database/unique.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import type { ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { calledBy, emailOf, nameOf, readCreation } from '../../../foundation/scim-user/resource.ts';
import { attachProvisioned } from '../../../tenancy/identities/attach.ts';
import { reclaimMember } from '../../../tenancy/identities/reclaim.ts';
import {
  type Entry,
  findRecord,
  type Held,
  holdRecord,
} from '../../../tenancy/scim-records/record.sql.ts';
import { changeRecord, insertRecord } from '../../../tenancy/scim-records/write.sql.ts';
import { readProjection } from '../view.ts';
import { followResource } from './change.ts';
import { about, activateMember, reclaimHeld } from './membership.ts';
import { type AtUsers, notUnique, presentUser } from './present.ts';

type Creation = ScimResource & { userName: string; active: boolean };

/**
 * Provisions a person (spec §4.3): account, record and membership in one transaction. A deactivated
 * person is found by name or address, and keeps the same id. Of parallel requests for one person,
 * only one succeeds.
 */
export async function createUserResource(ctx: Context, input: AtUsers & { body: unknown }) {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const resource = readCreation(input.body);
  const record = await retryOnceWhenOvertaken(() =>
    transaction(() => provision(ctx, organizationId, resource)),
  );
  return presentUser(ctx, record, project);
}

async function provision(ctx: Context, organizationId: string, resource: Creation): Promise<Entry> {
  const email = emailOf(resource);
  const known = await findRecord(organizationId, { userName: resource.userName, email });
  if (known === null) return admit(ctx, organizationId, resource, email);
  const isNamed = fold(known.userName) === fold(resource.userName);
  if (isNamed || !known.active || known.link === 'member') return comeBack(ctx, known, resource);
  // People with the same address are not merged. The second account does not get an address.
  const record = await admit(ctx, organizationId, resource, null);
  await recordEvent(ctx, {
    kind: 'scim.address.taken',
    organizationId,
    subject: { type: 'user', id: record.accountId, name: calledBy(resource) },
    data: { email, record: record.id, holder: known.id },
  });
  return record;
}

async function admit(
  ctx: Context,
  organizationId: string,
  resource: Creation,
  email: string | null,
): Promise<Entry> {
  const name = calledBy(resource);
  const { account, link } = await attachProvisioned(ctx, { organizationId, email, name });
  const { active } = resource;
  if (active && link === 'attached')
    await reclaimMember(ctx, account, organizationId, { name: nameOf(resource) });
  const whose = { organizationId, accountId: account.id, link };
  const record = await insertRecord({ ...whose, resource, active, at: ctx.now });
  await begin(ctx, { record, account });
  return record;
}

/** Rewrites an inactive record. If `active` is true, the person becomes a member again. */
async function comeBack(ctx: Context, found: Entry, resource: Creation): Promise<Entry> {
  const held = await holdRecord(found);
  if (held === null) return provision(ctx, found.organizationId, resource);
  const { record } = held;
  const { active } = resource;
  if (record.active) throw notUnique(resource.userName);
  const link = record.link === 'member' ? 'adopted' : record.link;
  if (active) await reclaimHeld(ctx, held, nameOf(resource));
  await followResource(ctx, held, resource);
  await changeRecord(ctx, record, { resource, active, hidden: false, link });
  await begin(ctx, held);
  return record;
}

async function begin(ctx: Context, held: Held): Promise<void> {
  if (held.record.active) await activateMember(ctx, held, 'scim.user.provisioned');
  else await recordEvent(ctx, about(held, 'scim.user.recorded'));
}
