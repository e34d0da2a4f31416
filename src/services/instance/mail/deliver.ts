import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { mailingOf } from '../../foundation/mail/queue.ts';
import { after } from '../../foundation/time.ts';
import { composeMail } from './compose.ts';

const atOnce = 10;
/** Longer than a message can take: whoever claimed one and was killed leaves it to the next after this. */
const leaseSeconds = 60;
const firstWaitSeconds = 10;
const longestWaitSeconds = 3600;
/** After which nobody waits for a mail any more. */
const patienceSeconds = 24 * 3600;

/** What the clock gives to a job that goes on for a while. */
interface Turn {
  /** Aborted when the process is to end. */
  stop: AbortSignal;
  /** A context of the instant at which it is asked for. */
  anew(): Context;
}

/**
 * Sends what is due, each mail from one of however many daemons. What cannot be sent is tried again, less and less
 * often, for a day; what the server will never take, or not within that day, is given up with an event. A process that
 * stops leaves what it is sending to the next.
 */
export async function deliverMail(ctx: Context, { stop, anew }: Turn): Promise<void> {
  if (!isMailConfigured(ctx)) return;
  let items = await claimDue(ctx);
  while (items.length > 0) {
    const now = anew();
    // Accounts first: a resend of the same moment is answered by the mail of its sign-up.
    await Promise.all(items.filter(isSignUp).map((item) => deliver(now, item, stop)));
    await Promise.all(
      items.filter((item) => !isSignUp(item)).map((item) => deliver(now, item, stop)),
    );
    items = stop.aborted ? [] : await claimDue(anew());
  }
}

function isSignUp(item: OutboxItem): boolean {
  return mailingOf(item).about === 'signup';
}

async function claimDue(ctx: Context): Promise<OutboxItem[]> {
  const due = { kind: 'mail', nextAt: { [Op.lte]: ctx.now } };
  const items = await OutboxItem.findAll({ where: due, order: ['nextAt', 'id'], limit: atOnce });
  if (items.length === 0) return [];
  const claimed: OutboxItem[] = [];
  await transaction(async () => {
    for (const item of items) {
      const { id, attempts } = item;
      const claim = { attempts: attempts + 1, nextAt: after(ctx.now, leaseSeconds) };
      // Of those who saw the row the first to count an attempt has it.
      const [won] = await OutboxItem.update(claim, { where: { ...due, id, attempts } });
      if (won === 1) claimed.push(item.set(claim));
    }
  });
  return claimed;
}

async function deliver(ctx: Context, item: OutboxItem, stop: AbortSignal): Promise<void> {
  try {
    const message = await composeMail(ctx, mailingOf(item), {
      again: item.attempts > 1,
      asked: item.createdAt,
    });
    if (message !== null) await ctx.outbound.sendMail(message, stop);
    await transaction(() => item.destroy());
  } catch (error) {
    const { reason, final } = failureOf(error);
    const { about } = mailingOf(item);
    ctx.log.warn({ mail: about, attempt: item.attempts, reason, err: error }, 'mail not sent');
    await transaction(() =>
      final || isOld(ctx, item) ? giveUp(ctx, item, reason) : postpone(ctx, item),
    );
  }
}

function failureOf(error: unknown): { reason: string; final: boolean } {
  if (!(error instanceof Refusal)) return { reason: 'internal error', final: false };
  const { reason, final } = error.extra;
  return { reason: String(reason ?? error.code), final: final === true };
}

function isOld(ctx: Context, { createdAt }: OutboxItem): boolean {
  return after(createdAt, patienceSeconds) < ctx.now;
}

async function postpone(ctx: Context, item: OutboxItem): Promise<void> {
  const wait = Math.min(firstWaitSeconds * 2 ** (item.attempts - 1), longestWaitSeconds);
  await item.update({ nextAt: after(ctx.now, wait) });
}

async function giveUp(ctx: Context, item: OutboxItem, reason: string): Promise<void> {
  const mailing = mailingOf(item);
  await item.destroy();
  if (mailing.about === 'nothing') return;
  const { about } = mailing;
  await recordEvent(ctx, {
    kind: 'mail.abandoned',
    ...(about === 'invitation'
      ? {
          organizationId: mailing.organizationId,
          data: { about, invitation: mailing.invitation, reason },
        }
      : { data: { about, email: mailing.email, reason } }),
  });
}
