import { Op } from 'sequelize';
import type { Context, Turn } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import type { EntryPurpose } from '../../../database/models/mail-code.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import { transaction } from '../../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { MailMessage } from '../../../outbound/outbound.ts';
import { minuteText } from '../../../text/dates.ts';
import { timeOfExpiry } from '../../foundation/clock/clock.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { maySendAsked, maySendInvitation, mayTellHolder } from '../../foundation/limits/mail.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { type Mailing, mailingOf } from '../../foundation/mail/queue.ts';
import { after } from '../../foundation/time.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import { lastWritten, writeCode } from '../../people/codes/code.ts';
import { admitSignUp } from '../../signin/sign-up/sign-up.ts';
import { describeInvitation } from '../../tenancy/invitations/invitation.ts';
import { keepsAddress } from '../../tenancy/profile/email.ts';
import { describeSetupLink, partWords } from '../../tenancy/setup-links/setup-link.ts';
import {
  accountLetter,
  askedForLetter,
  codeLetter,
  deletedLetter,
  invitationLetter,
  renderLetter,
  setupLinkLetter,
} from './letters.ts';
import { noticeLetter } from './notices.ts';

const atOnce = 10;
/**
 * How long a process reserves a mail: longer than sending takes. After that, another process may
 * send it.
 */
const leaseSeconds = 60;
const firstWaitSeconds = 10;
const longestWaitSeconds = 3600;
/** After this time, a mail is no longer useful to its recipient. */
const patienceSeconds = 24 * 3600;

/**
 * Sends due mail. Only one daemon sends each mail. A failed mail is retried for a day, at growing
 * intervals. If the server refuses it for good, or the day is over, idctl gives up and records an
 * event. A stopping process leaves its unsent mail to the next one.
 */
export async function deliverMail(ctx: Context, { stop, anew }: Turn): Promise<void> {
  if (!isMailConfigured(ctx)) return;
  let items = await claimDue(ctx);
  while (items.length > 0) {
    const now = anew();
    // Sign-ups come first: their mail also answers a resend that was requested at the same time.
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
      // If several processes claim the mail, only the first update succeeds.
      const [won] = await OutboxItem.update(claim, { where: { ...due, id, attempts } });
      if (won === 1) claimed.push(item.set(claim));
    }
  });
  return claimed;
}

async function deliver(ctx: Context, item: OutboxItem, stop: AbortSignal): Promise<void> {
  try {
    const { attempts, createdAt: asked } = item;
    const message = await composeMail(ctx, mailingOf(item), { again: attempts > 1, asked });
    if (message !== null) await ctx.outbound.sendMail(message, stop);
    await transaction(() => item.destroy());
  } catch (error) {
    const { reason, final } = failureOf(error);
    const { about } = mailingOf(item);
    ctx.log.warn({ mail: about, attempt: item.attempts, reason, err: error }, 'mail not sent');
    const isOver = final || after(item.createdAt, patienceSeconds) < (await timeOfExpiry(ctx));
    await transaction(() => (isOver ? giveUp(ctx, item, reason) : postpone(ctx, item)));
  }
}

function failureOf(error: unknown): { reason: string; final: boolean } {
  if (!(error instanceof Refusal)) return { reason: 'internal error', final: false };
  const { code, failure } = error;
  const final = failure !== undefined && 'final' in failure && failure.final;
  return { reason: failure?.reason ?? code, final };
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
  if (about === 'invitation' || about === 'setupLink') {
    const { organizationId } = mailing;
    const named =
      about === 'invitation'
        ? { about, invitation: mailing.invitation }
        : { about, setupLink: mailing.setupLink };
    const data = { ...named, reason };
    return recordEvent(ctx, { kind: 'mail.abandoned', organizationId, data });
  }
  const data = { about, email: mailing.email, reason };
  await recordEvent(ctx, { kind: 'mail.abandoned', organizationId: null, data });
}

/**
 * Composes the message, with a new code if needed. Null if there is nothing to send, for example to
 * an address without an account. A sign-up is only processed here, and queues its own mail.
 * `again`: an earlier message may have arrived. `asked`: the time of the request.
 */
export async function composeMail(
  ctx: Context,
  mailing: Mailing,
  { again, asked }: { again: boolean; asked: Date },
): Promise<MailMessage | null> {
  const from = { service: ctx.config.instance.name, baseUrl: ctx.config.baseUrl };
  switch (mailing.about) {
    case 'code': {
      const code = await codeFor(ctx, mailing, { again, asked });
      const letter = code === null ? null : codeLetter(from, mailing.purpose, code);
      return letter && { to: mailing.email, ...renderLetter(from, letter) };
    }
    case 'signup':
      if (!(again || (await transaction(() => isWithinLimit(ctx, mailing))))) return null;
      // Two sign-ups for one address may be written at the same time.
      await retryOnceWhenOvertaken(() => transaction(() => admitSignUp(ctx, mailing)));
      return null;
    case 'nothing':
      return null;
    case 'newAddress':
      return composeForNewAddress(ctx, mailing, again);
    case 'deleted':
      return { to: mailing.email, ...renderLetter(from, deletedLetter(from)) };
    case 'account':
      return { to: mailing.email, ...renderLetter(from, accountLetter(from)) };
    case 'notice':
      return { to: mailing.email, ...renderLetter(from, noticeLetter(from, mailing, asked)) };
    case 'passkey': {
      const notice = passkeyNotice(mailing);
      return { to: mailing.email, ...renderLetter(from, noticeLetter(from, notice, asked)) };
    }
    case 'invitation': {
      // The mail of an expired invitation is deleted.
      const at = { ...ctx, now: await timeOfExpiry(ctx) };
      const invited = await describeInvitation(at, mailing.invitation);
      if (invited === null) return null;
      if (!again && !(await mayReach(ctx, invited.email, mailing.organizationId))) return null;
      return { to: invited.email, ...renderLetter(from, invitationLetter(from, invited)) };
    }
    case 'setupLink': {
      // A mail for an expired link is deleted.
      const at = { ...ctx, now: await timeOfExpiry(ctx) };
      const asked = await describeSetupLink(at, mailing.setupLink);
      if (asked === null) return null;
      if (!again && !(await mayReach(ctx, asked.email, mailing.organizationId))) return null;
      const parts = asked.parts.map((part) => partWords[part]);
      const letter = setupLinkLetter(from, {
        ...asked,
        parts,
        until: minuteText(asked.expiresAt),
      });
      return { to: asked.email, ...renderLetter(from, letter) };
    }
  }
}

/** The notice of an earlier release, which did not store the request. */
function passkeyNotice({ change, name }: Extract<Mailing, { about: 'passkey' }>) {
  const notice =
    change === 'added'
      ? { what: 'passkey-added' as const, name, withCodes: false }
      : { what: 'passkey-removed' as const, name };
  return { notice, from: { address: null, userAgent: null } };
}

/**
 * Whether the limit allows an invitation mail. Only the operator learns if it does not: an inviter
 * would learn that others invite the address.
 */
async function mayReach(ctx: Context, email: string, organizationId: string): Promise<boolean> {
  const may = await transaction(() => maySendInvitation(ctx, email, organizationId));
  const message = 'mail not sent: the address has had too many invitations today';
  if (!may) ctx.log.warn({ mail: 'invitation' }, message);
  return may;
}

/** Whether the limit allows a requested mail. Mail that was not requested is always allowed. */
async function isWithinLimit(
  ctx: Context,
  { email, stranger }: { email: string; stranger?: boolean },
): Promise<boolean> {
  return stranger === undefined || maySendAsked(ctx, email, stranger);
}

async function codeFor(
  ctx: Context,
  mailing: Extract<Mailing, { about: 'code' }>,
  { again, asked }: { again: boolean; asked: Date },
): Promise<string | null> {
  const { email, purpose, stranger } = mailing;
  return transaction(async () => {
    const found = await findByEmail(email);
    // A code must not be written during a change that revokes all codes.
    const account = found === null ? null : await hold.account(found.id);
    if (account === null || !isOfUse(account, purpose)) return null;
    const resent = purpose === 'verify' && stranger !== undefined && !again;
    if (resent && (await isAnsweredBySignUp(account, asked))) return null;
    // Only a mail that is sent counts toward the limit.
    if (!again && !(await isWithinLimit(ctx, mailing))) return null;
    return writeCode(ctx, { accountId: account.id, purpose }, { keepTries: again });
  });
}

/** Composes the code for a new address, or the note to its holder; null if neither is sent. */
async function composeForNewAddress(
  ctx: Context,
  mailing: Extract<Mailing, { about: 'newAddress' }>,
  again: boolean,
): Promise<MailMessage | null> {
  const { email, accountId } = mailing;
  const from = { service: ctx.config.instance.name, baseUrl: ctx.config.baseUrl };
  const letter = await transaction(async () => {
    const account = await hold.account(accountId);
    if (account === null || account.disabledAt !== null || account.email !== mailing.from)
      return null;
    // Written also if it is not mailed: whether the earlier code still works would otherwise tell
    // who has the address.
    const of = { accountId, purpose: 'email' } as const;
    const code = await writeCode(ctx, of, { keepTries: again, newAddress: email });
    const holder = await findByEmail(email);
    if (holder !== null && keepsAddress(holder))
      return again || (await mayTellHolder(ctx, email)) ? askedForLetter(from) : null;
    if (!again && !(await isWithinLimit(ctx, mailing))) return null;
    return codeLetter(from, 'email', code);
  });
  return letter && { to: email, ...renderLetter(from, letter) };
}

function isOfUse({ disabledAt, emailProof }: Account, purpose: EntryPurpose): boolean {
  return disabledAt === null && (purpose !== 'verify' || emailProof === 'none');
}

/** The time after a sign-up in which its own mail may still be unwritten. */
const underWaySeconds = 10;

/** Whether the sign-up's mail answers the request: its code is newer, or may still be written. */
async function isAnsweredBySignUp(account: Account, asked: Date): Promise<boolean> {
  if (!account.awaitsCode) return false;
  const written = await lastWritten({ accountId: account.id, purpose: 'verify' });
  const signedUpAt = account.signUpReplacedAt ?? account.createdAt;
  return written === null ? asked < after(signedUpAt, underWaySeconds) : asked < written;
}
