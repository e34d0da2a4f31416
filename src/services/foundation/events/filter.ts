import { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { idOfInstant } from '../../../crypto/id.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { shownIn } from '../authority/shown.ts';
import { ownsAddress } from '../domain-names/owns.ts';
import { isUuid, userRef } from '../fields.ts';
import type { Wanted } from './list.sql.ts';
import { kindPattern, kindsOf } from './view.ts';

const moment = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date(), z.string().regex(/^\d{1,5}[smhd]$/)],
  'must be a day such as 2026-11-20, a time such as 2026-11-20T12:00:00Z, or an age such as 30m, 24h or 7d',
);

/** The fields that limit a list of events. */
export const filterInput = {
  kind: kindPattern.optional().describe('A kind, or a group of kinds such as `member.*`.'),
  person: userRef
    .optional()
    .describe('Only what this account did, and what happened to it: by id or address.'),
  from: moment.optional().describe('Only events since then: a day (UTC), a time or an age.'),
  to: moment
    .optional()
    .describe('Only events until then: a day (UTC) with all its hours, a time or an age.'),
};

/** The same, with the earlier name of `from`. */
export const listFilterInput = {
  ...filterInput,
  since: filterInput.from.describe('The same as `from`.'),
};

const filter = z.strictObject(listFilterInput);
type Filter = z.output<typeof filter>;

/** The events that a filter selects, of the organization or of the whole instance. */
export async function wantedBy(
  ctx: Context,
  organizationId: string | null,
  { kind, person, from, since, to }: Filter,
): Promise<Wanted> {
  return {
    organizationId,
    kinds: kind === undefined || kind === '*' ? null : kindsOf(kind),
    key: person === undefined ? null : await keyOf(organizationId, person),
    after: laterOf(idAt(beginOf(ctx, from)), idAt(beginOf(ctx, since))),
    before: idAt(endOf(ctx, to)),
  };
}

/** The key of the person's events: the id of the account, or an address without one. */
async function keyOf(organizationId: string | null, person: string): Promise<string> {
  if (isUuid(person)) return person;
  const account = await Account.findOne({ where: { email: person } });
  const isKnown = account !== null && (await isSeen(organizationId, account, person));
  return isKnown ? account.id : person;
}

/**
 * Whether the organization sees this address of the account: as the address of a member, or on its
 * verified domain. Otherwise a former member's new address would be told (security I4).
 */
async function isSeen(organizationId: string | null, account: Account, address: string) {
  if (organizationId === null || (await ownsAddress(organizationId, address))) return true;
  const key = { organizationId, accountId: account.id };
  if ((await Membership.count({ where: key })) === 0) return false;
  return (await shownIn(organizationId, account)).email === address;
}

function idAt(milliseconds: number | null): string | null {
  return milliseconds === null ? null : idOfInstant(Math.max(0, milliseconds));
}

/** The later of two ids, of which each may be absent. */
export function laterOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one;
}

/** The earlier of two ids, of which each may be absent. */
export function earlierOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other < one) ? other : one;
}

/** The first millisecond of a day, a time or an age. */
function beginOf({ now }: Context, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ago = secondsOf(text);
  return Number.isNaN(ago) ? Date.parse(text) : now.getTime() - ago * 1000;
}

const dayMs = 86_400_000;

/** The millisecond after a day, a time or an age. */
function endOf(ctx: Context, text: string | undefined): number | null {
  const begin = beginOf(ctx, text);
  const isDay = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);
  return begin === null ? null : begin + (isDay ? dayMs : 1);
}
