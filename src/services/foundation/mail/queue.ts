import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { EntryPurpose } from '../../../database/models/mail-code.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import type { SignedUp } from '../../signin/sign-up/signed-up.ts';
import { isStranger } from '../limits/password.ts';
import type { NoticeMailing } from './notice.ts';

/** A mail to write and send. Its code or token is created when it is sent (security X4). */
export type Mailing =
  /** A code, if an account with the address exists and can use it. */
  | ({ about: 'code'; purpose: EntryPurpose; email: string } & Requester)
  /**
   * A code for the new address of an account whose address is still `from`. If another account has
   * the new address, its holder gets a note instead (security P18).
   */
  | ({ about: 'newAddress'; email: string; accountId: string; from: string | null } & Requester)
  /** Says that the person deleted their account. */
  | { about: 'deleted'; email: string }
  /** The data of a sign-up, processed when no requester waits for the answer (security P7). */
  | (SignedUp & { about: 'signup'; invitation: string | null } & Requester)
  /** Says that the address already has an account. */
  | { about: 'account'; email: string }
  | NoticeMailing
  /** A notice of an added or removed passkey, as earlier releases stored it. */
  | { about: 'passkey'; email: string; change: 'added' | 'removed'; name: string }
  /** A mail over the limit, as earlier releases stored it. */
  | { about: 'nothing'; email: string }
  | { about: 'invitation'; invitation: string; organizationId: string }
  | { about: 'setupLink'; setupLink: string; organizationId: string };

/** Whether a stranger requested the mail. Undefined for a sign-up's code: the sign-up counted. */
interface Requester {
  stranger?: boolean;
}

/** Mails that anyone can request. */
type RequestedMail = Extract<Mailing, { about: 'code' | 'signup' | 'newAddress' }>;

/** Queues a mail for the daemon. Call it inside the transaction that decides to send the mail. */
export async function queueMail(ctx: Context, mailing: Mailing): Promise<void> {
  await OutboxItem.create({
    id: orderedId(),
    kind: 'mail',
    payload: { ...mailing },
    createdAt: ctx.now,
    nextAt: ctx.now,
  });
}

/** Like `queueMail`, for requested mail. Mail over the limit is queued too (security P7). */
export async function queueAsked(ctx: Context, mailing: RequestedMail): Promise<void> {
  await queueMail(ctx, { ...mailing, stranger: await isStranger(ctx, mailing.email) });
}

/** The mail in a row of the outbox. */
export function mailingOf(item: OutboxItem): Mailing {
  // Only `queueMail` writes rows of this kind.
  return item.payload as Mailing;
}
