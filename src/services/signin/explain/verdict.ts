import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { type Account, hasSecondFactor } from '../../../database/models/account.ts';
import type { Refusal } from '../../../errors.ts';
import { type Factor, factorsOf } from '../../people/two-factor/asking.ts';
import { isApproved } from '../../tenancy/connections/approval.ts';
import { isOwnerAnywhere, ownerRefused } from '../../tenancy/connections/owners.ts';
import type { IdentityPlan } from '../../tenancy/identities/plan.ts';
import { planReclaim } from '../../tenancy/identities/reclaim.ts';
import { type Entrant, findBar, type SignIn } from '../begin.ts';
import { reasonToRecord } from '../refused.ts';
import { type Attempts, lastRoom } from './attempts.ts';

// Decides whether a way to sign in would succeed if the proof were right.

/** Whether the person could sign in this way, and why; null if the caller may not know. */
export interface Verdict {
  could: boolean | null;
  reason: string;
  until?: Date;
  /** The account's second factors, one of which is also required. */
  asks?: Factor[];
  /** The connection or an owner's role calls for a second factor, and the account has none. */
  lacksFactor?: boolean;
  /** Some networks are locked out until this instant. */
  partlyUntil?: Date;
}

/** The verdict on a way in which the person cannot sign in. */
export const closed = (reason: string, until?: Date): Verdict =>
  until === undefined ? { could: false, reason } : { could: false, reason, until };

/** The limits and the second factor, which still decide once the account is known. */
interface Rest {
  attempts: Attempts[];
  /** When the limits of the method are no longer full. */
  full?: Date | null;
  /** The account whose second factor is asked for, if it has one. */
  of: Account | null;
}

type Via = Pick<SignIn, 'method' | 'connection' | 'provenEmail'>;

/** The verdict on the proof of a provider or directory. */
export async function afterPlan(
  ctx: Context,
  plan: IdentityPlan,
  via: Via & { connection: { id: string; organizationId: string; approved: boolean } },
  rest: Omit<Rest, 'of'> & { email: string; asksCode: (accountId: string) => Promise<boolean> },
): Promise<Verdict> {
  if (plan.way === 'conflict') return closed('identity_conflict');
  if (plan.way === 'create') return made(ctx, rest.email, plan.emailProof, via, rest.full ?? null);
  const { account } = plan;
  const { organizationId } = via.connection;
  const unapproved = !isApproved(via.connection);
  if (unapproved && (await isOwnerAnywhere(account.id))) return closed(ownerRefused);
  const by = { organizationId, unapproved };
  const reclaims = plan.way === 'link' ? await planReclaim(ctx, account, by) : null;
  const keepsTotp = reclaims === null || reclaims.keepsTotp;
  const of = keepsTotp && (await rest.asksCode(account.id)) ? account : null;
  return finish(ctx, entrantOf(account, reclaims?.proof ?? {}), via, { ...rest, of });
}

/** The verdict on an account that the sign-in itself would create. */
export function made(
  ctx: Context,
  email: string,
  emailProof: 'domain' | 'social',
  via: Via,
  full: Date | null,
) {
  const entrant = { id: orderedId(), email, disabledAt: null, emailProof, awaitsCode: false };
  return finish(ctx, entrant, via, { attempts: [], full, of: null });
}

/** The verdict for this person: first the obstacles, then the limits, then the second factor. */
export async function finish(
  ctx: Context,
  entrant: Entrant,
  via: Via,
  { attempts, full = null, of }: Rest,
): Promise<Verdict> {
  const bar = await findBar(ctx, entrant, via);
  if (bar !== null) return closed(codeOfBar(bar));
  if (full !== null) return closed('too_many_tries', full);
  if (of === null) return { could: true, reason: 'on' };
  if (!hasSecondFactor(of)) {
    // Every other way asks for a second factor only because the account has one.
    const lacksFactor = via.method === 'sso' || (await isOwnerAnywhere(of.id));
    return { could: true, reason: 'on', lacksFactor };
  }
  // Wrong codes do not lock out a passkey.
  const locked = of.hasPasskey ? null : lastRoom(attempts, 'secondFactor');
  if (locked !== null) return closed('too_many_codes', locked);
  return { could: true, reason: 'on', asks: factorsOf(of) };
}

/** The code of an obstacle: the reason behind the refusal, or else its code. */
export function codeOfBar(bar: Refusal): string {
  return reasonToRecord(bar) ?? bar.code;
}

/** The facts of the account, as the sign-in would change them. */
export function entrantOf(
  { id, email, disabledAt, emailProof, awaitsCode }: Entrant,
  changes: Partial<Pick<Entrant, 'emailProof' | 'awaitsCode'>>,
): Entrant {
  return { id, email, disabledAt, emailProof, awaitsCode, ...changes };
}
