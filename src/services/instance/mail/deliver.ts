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
/**
 * Longer than a message can take. If a process is killed after claiming a message, another takes
 * over after this.
 */
const leaseSeconds = 60;
const firstWaitSeconds = 10;
const longestWaitSeconds = 3600;
/** After this time a mail is useless to its recipient. */
const patienceSeconds = 24 * 3600;

/** The scheduler's interface for a long-running job. */
interface Turn {
  /** Aborted when the process must end. */
  stop: AbortSignal;
  /** Makes a context with the current time. */
  anew(): Context;
}

/**
 * Sends due mail; each mail is sent by one daemon only. A failed mail is retried for a day, at
 * growing intervals. If the server refuses it for good, or the day is over, it is given up with an
 * event. A process that stops leaves its unsent mail to the next.
 */
export async function deliverMail(ctx: Context, { stop, anew }: Turn): Promise<void> {
  if (!isMailConfigured(ctx)) return;
  let items = await claimDue(ctx);
  while (items.length > 0) {
    const now = anew();
    // Sign-ups first: a resend requested at the same time is answered by the sign-up's own mail.
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
      // The first process to count an attempt wins the row.
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
