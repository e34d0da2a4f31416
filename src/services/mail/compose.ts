import type { Context } from '../../context.ts';
import type { CodePurpose } from '../../database/models/mail-code.ts';
import { transaction } from '../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../database/unique.ts';
import type { MailMessage } from '../../outbound/outbound.ts';
import { findByEmail } from '../accounts/find.ts';
import { lockAccount } from '../accounts/lock.ts';
import { admitSignUp } from '../codes/admit-sign-up.ts';
import { writeCode } from '../codes/code.ts';
import { describeInvitation } from '../invitations/describe.ts';
import { maySendInvitation } from '../limits/mail.ts';
import { accountLetter, codeLetter, invitationLetter } from './letters.ts';
import type { Mailing } from './queue.ts';
import { renderLetter } from './render.ts';

/**
 * The message, with a code or token made for it now; null when there is nothing to send, as to an address without
 * an account. `again`: an earlier one may have arrived.
 */
export async function composeMail(
  ctx: Context,
  mailing: Mailing,
  { again }: { again: boolean },
): Promise<MailMessage | null> {
  const from = { service: ctx.config.instance.name, baseUrl: ctx.config.baseUrl };
  switch (mailing.about) {
    case 'code': {
      const code = await codeFor(ctx, mailing, again);
      const letter = code === null ? null : codeLetter(from, mailing.purpose, code);
      return letter && { to: mailing.email, ...renderLetter(from, letter) };
    }
    case 'signup':
      // Two for one address may be written at once.
      await retryOnceWhenOvertaken(() => transaction(() => admitSignUp(ctx, mailing)));
      return null;
    case 'nothing':
      return null;
    case 'account':
      return { to: mailing.email, ...renderLetter(from, accountLetter(from)) };
    case 'invitation': {
      const invited = await describeInvitation(ctx, mailing.invitation);
      if (invited === null || !(again || (await mayReach(ctx, invited.email, mailing.organizationId))))
        return null;
      return { to: invited.email, ...renderLetter(from, invitationLetter(from, invited)) };
    }
  }
}

/** What is not sent is told to the operator alone: whoever invited would learn that others invite the address. */
async function mayReach(ctx: Context, email: string, organizationId: string): Promise<boolean> {
  const may = await transaction(() => maySendInvitation(ctx, email, organizationId));
  if (!may)
    ctx.log.warn({ mail: 'invitation' }, 'mail not sent: the address has had too many invitations today');
  return may;
}

async function codeFor(
  ctx: Context,
  { email, purpose }: { email: string; purpose: CodePurpose },
  again: boolean,
): Promise<string | null> {
  return transaction(async () => {
    const found = await findByEmail(email);
    // Held, so that no code is written beside what ends them all.
    const account = found === null ? null : await lockAccount(found.id);
    if (account === null || account.disabledAt !== null) return null;
    if (purpose === 'verify' && account.emailProof !== 'none') return null;
    return writeCode(ctx, { accountId: account.id, purpose }, { keepTries: again });
  });
}
