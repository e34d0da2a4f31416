import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Identity } from '../../../database/models/identity.ts';
import { entryLimit, nameLimit } from '../../foundation/limits/ldap.ts';
import { type Limit, readCount } from '../../foundation/limits/limit.ts';
import { mailboxLimits } from '../../foundation/limits/mail.ts';
import { codeLimit, findPasswordPlaces } from '../../foundation/limits/password.ts';

const directory = connectionKinds.ldap.name;

/** The kinds of attempts that limits count. */
export const attemptKinds = ['password', 'secondFactor', 'mail', directory] as const;

/** The attempts that a limit counts now; `until` is set while it is full. */
export interface Attempts {
  of: (typeof attemptKinds)[number];
  /** The network of the limit, where the person has signed in; null means everywhere else. */
  network: string | null;
  used: number;
  most: number;
  until: Date | null;
}

/** The directory that a sign-in would query, and the identity that it should return. */
interface QueriedDirectory {
  organizationId: string;
  key: Pick<Identity, 'issuer' | 'subject'> | null;
}

/** The current counts of an address, its account, and its entry in the directory. */
export async function readAttempts(
  ctx: Context,
  { email, account }: { email: string; account: Account | null },
  asked: QueriedDirectory | null,
): Promise<Attempts[]> {
  if (ctx.config.limits.enabled === 'off') return [];
  const { forAll, rest } = mailboxLimits(ctx, email);
  const everywhere = (of: Attempts['of'], limit: Limit) => ({ of, network: null, limit });
  const places: { of: Attempts['of']; network: string | null; limit: Limit }[] = [
    ...(await findPasswordPlaces(ctx, { id: account?.id ?? null, email })),
    ...(account === null ? [] : [everywhere('secondFactor', codeLimit(account.id))]),
    everywhere('mail', forAll),
    ...(rest.max > 0 ? [everywhere('mail', rest)] : []),
    ...(asked === null ? [] : [everywhere(directory, nameLimit(ctx, email, asked.organizationId))]),
    ...(asked === null || asked.key === null
      ? []
      : [everywhere(directory, entryLimit(ctx, asked.key, asked.organizationId))]),
  ];
  const counted: Attempts[] = [];
  for (const { limit, ...place } of places)
    counted.push({ ...place, most: limit.max, ...(await readCount(ctx, limit)) });
  return counted;
}

/** When the first limit of this kind has room again; null unless all of them are full now. */
export function firstRoom(attempts: Attempts[], of: Attempts['of']): Date | null {
  const places = attempts.filter((each) => each.of === of);
  const full = places.flatMap(({ until }) => (until === null ? [] : [until.getTime()]));
  return full.length === 0 || full.length < places.length ? null : new Date(Math.min(...full));
}

/** When every limit of this kind has room again; null if none is full now. */
export function lastRoom(attempts: Attempts[], of: Attempts['of']): Date | null {
  const full = attempts.flatMap((each) =>
    each.of === of && each.until !== null ? [each.until.getTime()] : [],
  );
  return full.length === 0 ? null : new Date(Math.max(...full));
}
