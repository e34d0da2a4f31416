import type { Context } from '../../../context.ts';
import type { ScimRecord } from '../../../database/models/scim-record.ts';
import { transaction } from '../../../database/transaction.ts';
import { retryOnceOnDuplicate } from '../../../database/unique.ts';
import { findByEmail } from '../../accounts/find.ts';
import { requireScim } from '../../authority/require.ts';
import { recordEvent } from '../../events/record.ts';
import { attachProvisioned } from '../../identities/attach.ts';
import type { ScimResource } from '../attributes.ts';
import { findRecordNamed, findRecordOf, holdRecord } from '../records/find.ts';
import { changeRecord, insertRecord } from '../records/write.ts';
import { emailOf, readCreation } from '../resource.ts';
import { readProjection } from '../view.ts';
import { calledBy } from './called.ts';
import { notUnique } from './checks.ts';
import { followResource } from './follow.ts';
import type { AtUsers } from './input.ts';
import { about, activateMember } from './membership.ts';
import { type Presented, present } from './present.ts';

type Creation = ScimResource & { userName: string; active: boolean };

/**
 * Provisions a person (spec §4.3): account, record and membership in one transaction. Whoever was deactivated is found
 * again, by name or address, under the same id. Of several at the same moment one succeeds.
 */
export async function createUser(ctx: Context, input: AtUsers & { body: unknown }): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const resource = readCreation(input.body);
  const record = await retryOnceOnDuplicate(() =>
    transaction(() => provision(ctx, organizationId, resource)),
  );
  return present(ctx, record, project);
}

async function provision(ctx: Context, organizationId: string, resource: Creation): Promise<ScimRecord> {
  const named = await findRecordNamed(organizationId, resource.userName);
  if (named !== null) return comeBack(ctx, named, resource);
  const email = emailOf(resource);
  const holder = email === null ? null : await findByEmail(email);
  const known = holder === null ? null : await findRecordOf(organizationId, holder.id);
  if (known === null) return admit(ctx, organizationId, resource, email);
  if (!known.active || known.link === 'member') return comeBack(ctx, known, resource);
  // Two people of one address are not made one: the second has an account that knows none.
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
): Promise<ScimRecord> {
  const name = calledBy(resource);
  const { account, link } = await attachProvisioned(ctx, { organizationId, email, name });
  const { active } = resource;
  const whose = { organizationId, accountId: account.id, link };
  const record = await insertRecord({ ...whose, resource, active, at: ctx.now });
  await begin(ctx, { record, account });
  return record;
}

/** The person of a record that is there already: refused while they are what is asked for. */
async function comeBack(ctx: Context, found: ScimRecord, resource: Creation): Promise<ScimRecord> {
  const held = await holdRecord(found);
  if (held === null) return provision(ctx, found.organizationId, resource);
  const { record } = held;
  const { active } = resource;
  if (record.active || (!active && isSame(record, resource))) throw notUnique(resource.userName);
  const link = record.link === 'member' ? 'adopted' : record.link;
  await changeRecord(ctx, record, { resource, active, hidden: false, link });
  await followResource(held, resource);
  await begin(ctx, held);
  return record;
}

/** Whether asking for this once more, inactive, would change nothing. */
function isSame(record: ScimRecord, { userName }: Creation): boolean {
  return !record.hidden && record.userName.toLowerCase() === userName.toLowerCase();
}

async function begin(ctx: Context, held: Parameters<typeof about>[0]): Promise<void> {
  if (held.record.active) await activateMember(ctx, held, 'scim.user.provisioned');
  else await recordEvent(ctx, about(held, 'scim.user.recorded'));
}
