import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { CodePurpose } from '../../../database/models/mail-code.ts';
import { transaction } from '../../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../../database/unique.ts';
import type { MailMessage } from '../../../outbound/outbound.ts';
import { maySendAsked, maySendInvitation } from '../../foundation/limits/mail.ts';
import type { Mailing } from '../../foundation/mail/queue.ts';
import { after } from '../../foundation/time.ts';
import { findByEmail, lockAccount } from '../../people/accounts/account.ts';
import { lastWritten, writeCode } from '../../people/codes/code.ts';
import { admitSignUp } from '../../signin/methods/codes/admit-sign-up.ts';
import { describeInvitation } from '../../tenancy/invitations/invitation.ts';
import { accountLetter, codeLetter, invitationLetter } from './letters.ts';
import { renderLetter } from './render.ts';

/**
 * The message, with a code or token made now. Null if there is nothing to send, for example to an
 * address without an account. `again`: an earlier message may have arrived. `asked`: the time of
 * the request.
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
      // Two sign-ups for one address may be written at once.
      await retryOnceWhenOvertaken(() => transaction(() => admitSignUp(ctx, mailing)));
      return null;
    case 'nothing':
      return null;
    case 'account':
      return { to: mailing.email, ...renderLetter(from, accountLetter(from)) };
    case 'invitation': {
      const invited = await describeInvitation(ctx, mailing.invitation);
      if (
        invited === null ||
        !(again || (await mayReach(ctx, invited.email, mailing.organizationId)))
      )
        return null;
      return { to: invited.email, ...renderLetter(from, invitationLetter(from, invited)) };
    }
  }
}

/**
 * Only the operator learns that an invitation is not sent: the inviter would learn that others
 * invite the address.
 */
async function mayReach(ctx: Context, email: string, organizationId: string): Promise<boolean> {
  const may = await transaction(() => maySendInvitation(ctx, email, organizationId));
  if (!may)
    ctx.log.warn(
      { mail: 'invitation' },
      'mail not sent: the address has had too many invitations today',
    );
  return may;
}

/** Whether a requested mail may still be sent. Mail that was not requested is not limited. */
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
    // Locked, so that no code is written beside a change that ends all codes.
    const account = found === null ? null : await lockAccount(found.id);
    if (account === null || !isOfUse(account, purpose)) return null;
    const resent = purpose === 'verify' && stranger !== undefined && !again;
    if (resent && (await isAnsweredBySignUp(account, asked))) return null;
    // Only sent mails count.
    if (!again && !(await isWithinLimit(ctx, mailing))) return null;
    return writeCode(ctx, { accountId: account.id, purpose }, { keepTries: again });
  });
}

function isOfUse({ disabledAt, emailProof }: Account, purpose: CodePurpose): boolean {
  return disabledAt === null && (purpose !== 'verify' || emailProof === 'none');
}

/** How long after the sign-up its own mail may still be about to be written. */
const underWaySeconds = 10;

/**
 * Whether the sign-up's own mail answers this request to resend: it is still to be written, or was
 * written since.
 */
async function isAnsweredBySignUp(account: Account, asked: Date): Promise<boolean> {
  if (!account.awaitsCode) return false;
  const written = await lastWritten({ accountId: account.id, purpose: 'verify' });
  const signedUpAt = account.signUpReplacedAt ?? account.createdAt;
  return written === null ? asked < after(signedUpAt, underWaySeconds) : asked < written;
}
