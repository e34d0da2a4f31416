import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { CodePurpose } from '../../../database/models/mail-code.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import type { SignedUp } from '../../signin/sign-up/signed-up.ts';
import { isStranger } from '../limits/password.ts';

/** A mail to be written and sent: never with a code or a token in it, which are made when it is (security X4). */
export type Mailing =
  /** A code, if there is an account with the address that it would be of use to. */
  | ({ about: 'code'; purpose: CodePurpose; email: string } & AskedBy)
  /** What somebody signed up with: looked at when nobody waits for the answer any more (security P7). */
  | (SignedUp & { about: 'signup'; invitation: string | null } & AskedBy)
  /** That the address has an account already. */
  | { about: 'account'; email: string }
  /** What was too much, as earlier releases left it. */
  | { about: 'nothing'; email: string }
  | { about: 'invitation'; invitation: string; organizationId: string };

/** Whether a stranger to the person asked for it; undefined for what nobody asked for, which is not limited. */
interface AskedBy {
  stranger?: boolean;
}

/** What anybody can ask for. */
type Asked = Extract<Mailing, { about: 'code' | 'signup' }>;

/** Leaves a mail to the daemon; call it inside the transaction that decides it. */
export async function queueMail(ctx: Context, mailing: Mailing): Promise<void> {
  await OutboxItem.create({
    id: orderedId(),
    kind: 'mail',
    payload: { ...mailing },
    createdAt: ctx.now,
    nextAt: ctx.now,
  });
}

/**
 * As `queueMail`, for what anybody can ask for. What is over the limit of the address is left to the daemon as well, and
 * nobody sees by the time it takes that it is not sent (security P7).
 */
export async function queueAsked(ctx: Context, mailing: Asked): Promise<void> {
  await queueMail(ctx, { ...mailing, stranger: await isStranger(ctx, mailing.email) });
}

/** The mail that a row of the outbox stands for. */
export function mailingOf(item: OutboxItem): Mailing {
  // Whatever has this kind was written by `queueMail`.
  return item.payload as Mailing;
}
