import { Transaction } from 'sequelize';
import { connectionKindNames } from '../connection-kinds.ts';
import { openTransaction } from './transaction.ts';

// The order in which a transaction locks rows. Two transactions that lock the same rows in the same
// order cannot deadlock. Rows of one kind are locked in the order of their ids.
//
// Without a rank: a webhook, which every event keeps, and a row that a foreign key keeps. Only
// their removal waits for them.
//
// With `late`, a hold may come after holds of a higher rank. Its transaction and a removal of the
// row can wait for each other. PostgreSQL then ends one of the two, which refuses with
// `database_busy`. Only SCIM changes do this, for the domain of the person's address: reading it
// earlier would make each change slower.
const ranks = [
  // A SCIM push and a change of the mappings exclude each other from the start.
  'mappings',
  // A sign-in checks the domain, then the connection, and then finds the person.
  'domain',
  ...connectionKindNames,
  // A push holds its group before its people.
  'scimGroup',
  // All code that changes what belongs to a person holds the account first.
  'account',
  'scimRecord',
  'membership',
  // Locked to count the other owners, when the membership of an owner is already locked.
  'organization',
  // A client is held before the project that it names.
  'client',
  // The deletion of a project deletes its memberships.
  'project',
  'projectMembership',
  // These are held alone.
  'refreshToken',
  'sweep',
] as const;

/** A kind of rows that a transaction can hold in a fixed order. */
export type Kind = (typeof ranks)[number];

/**
 * How a row is held until the transaction ends. `kept`: others may change it, but not remove it.
 * `beside`: others may read it for a decision too, but not change it. `alone`: others may only
 * refer to it. `whole`: others may not even refer to it, so use it to remove a row.
 */
export type How = 'kept' | 'beside' | 'alone' | 'whole';

/** The locks of PostgreSQL, from the weakest to the strongest. */
export const locks = {
  kept: Transaction.LOCK.KEY_SHARE,
  beside: Transaction.LOCK.SHARE,
  alone: Transaction.LOCK.NO_KEY_UPDATE,
  whole: Transaction.LOCK.UPDATE,
} as const satisfies Record<How, string>;

const strengths = Object.keys(locks);

/** A hold that comes after holds of a higher rank on purpose. Say why at the call. */
export interface Late {
  late?: boolean;
}

interface Holding {
  /** The strength of each held row. */
  rows: Map<string, number>;
  last: { rank: number; id: string; name: string } | null;
}

const holdings = new WeakMap<object, Holding>();

/**
 * Notes that the open transaction holds these rows, only in tests. Throws if a row comes after one
 * of a higher rank, or if a locked row is now locked more strongly: another transaction may do the
 * same.
 */
export function noteHolds(
  kind: Kind,
  ids: readonly string[],
  how: How,
  { late = false }: Late = {},
): void {
  if (process.env['NODE_ENV'] !== 'test') return;
  const opened = openTransaction();
  if (opened === undefined) return;
  const holding = holdings.get(opened) ?? { rows: new Map(), last: null };
  holdings.set(opened, holding);
  for (const id of ids) noteOne(holding, { kind, id, how, late });
}

function noteOne(
  holding: Holding,
  { kind, id, how, late }: { kind: Kind; id: string; how: How; late: boolean },
): void {
  const name = `${kind} ${id}`;
  const rank = ranks.indexOf(kind);
  const strength = strengths.indexOf(how);
  const before = holding.rows.get(name);
  if (before !== undefined && before >= strength) return;
  holding.rows.set(name, strength);
  if (late) return;
  if (before !== undefined)
    throw new Error(`${name} is held as ${strengths[before]}, and now as ${how}`);
  const { last } = holding;
  // Rows that are only kept do not wait for each other, so their order among themselves is free.
  const isBefore = last !== null && rank === last.rank && how !== 'kept' && id < last.id;
  if (last !== null && (rank < last.rank || isBefore))
    throw new Error(`${name} is held after ${last.name}: see the order in hold-order.ts`);
  if (last === null || rank > last.rank || how !== 'kept') holding.last = { rank, id, name };
}
