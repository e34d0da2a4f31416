import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { Tombstone } from '../../../database/models/tombstone.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { refuseField } from '../../../errors.ts';
import { networkOf } from '../../../text/address.ts';
import { eventAbout, recordEvent, tallyEvent } from '../../foundation/events/record.ts';
import { email } from '../../foundation/fields.ts';
import { giveBack, type Limit, requirePlace, spend } from '../../foundation/limits/limit.ts';
import { countAsking } from '../../foundation/limits/mail.ts';
import { clientLimit, rememberClient } from '../../foundation/limits/password.ts';
import { requireMail } from '../../foundation/mail/configured.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { queueAsked } from '../../foundation/mail/queue.ts';
import { operation } from '../../foundation/operation.ts';
import { findByEmail, holdAccount } from '../../people/accounts/account.ts';
import {
  codeInvalid,
  givenCode,
  type RightCode,
  spendCode,
  tryCode,
} from '../../people/codes/code.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import { ownSessionOf } from '../../people/sessions/end.ts';
import { requireOwnSession, requireRecentSignIn } from '../../people/two-factor/recent.ts';
import { requireNewUnmanaged, requireUnmanaged } from '../addresses/managed.ts';
import { provedByMail } from '../addresses/prove-address.ts';
import { takeOver } from '../identities/reclaim.ts';
import { keepRemovals } from '../memberships/removed.ts';
import { deleteAccount } from './deletion.ts';
import { meView, showMe } from './operations.ts';

// A person changes their own address (security P18). The request does not read who has the new
// address: the job that writes the mail does, so neither the answer nor its duration reveals it.

const maxPerHour = 5;

/**
 * Mails a code to the new address of the caller's account, or a note to the holder of that address.
 */
export const requestEmail = operation({
  authority: 'me.account',
  input: z.strictObject({ email }),
  output: z.object({}),
  run: async (ctx, input, { accountId }) => {
    await requireOwnSession(ctx);
    const account = await requireChangeable(ctx, accountId, input.email);
    await requireRecentSignIn(ctx, account);
    const limit = { name: 'new addresses', of: accountId, max: maxPerHour, seconds: 3600 };
    const asked = { email: input.email, accountId, from: account.email };
    await transaction(async () => {
      await requirePlace(ctx, limit, 'You have requested too many address changes.');
      await countAsking(ctx);
      await queueAsked(ctx, { about: 'newAddress', ...asked });
    });
    return {};
  },
});

/** Changes the address of the caller's account with the mailed code, and ends other sessions. */
export const confirmEmail = operation({
  authority: 'me.account',
  input: z.strictObject({ email, code: givenCode }),
  output: meView,
  run: async (ctx, input, { accountId }) => {
    await requireOwnSession(ctx);
    const account = await requireChangeable(ctx, accountId, input.email);
    // Wrong codes count against the caller: the holder of the address must not notice them.
    const limits = [codesOf(accountId), clientLimit(ctx)];
    await spend(ctx, limits);
    const of = { accountId, purpose: 'email' } as const;
    const right = await tryCode(ctx, of, input.code, input.email);
    if (right === null) {
      await recordRefusedCode(ctx, account);
      throw codeInvalid();
    }
    const changed = transaction(() => changeAddress(ctx, right, input.email));
    // Another account may have got the address at the same time.
    await refusingDuplicate(changed, codeInvalid());
    await giveBack(ctx, limits);
    return showMe(ctx, {});
  },
});

/** The limit of wrong codes for a new address. */
const codesOf = (of: string): Limit => ({ name: 'address codes', of, max: 10, seconds: 900 });

function recordRefusedCode(ctx: Context, { id, name }: Account): Promise<void> {
  const address = networkOf(ctx.client.address);
  const subject = { type: 'user', id, name };
  const data = { reason: 'wrong_code' as const, address };
  return unsynced(() =>
    tallyEvent(ctx, { kind: 'user.email.refused', subject, data }, { of: id, apart: 'email' }),
  );
}

/** Refuses without mail, and if an organization manages the old or the new address. */
async function requireChangeable(ctx: Context, accountId: string, email: string): Promise<Account> {
  requireMail(
    ctx,
    'Ask the operator to set up mail, or to create a new account with the new address.',
  );
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  if (account.email === email) throw refuseField('email', 'is your address already');
  await requireUnmanaged(ctx, account.email);
  await requireNewUnmanaged(ctx, email);
  return account;
}

async function changeAddress(ctx: Context, right: RightCode, email: string) {
  const { accountId } = right;
  const holder = await findByEmail(email);
  await hold.accounts([accountId, ...(holder === null ? [] : [holder.id])]);
  await holdAccount(ctx, accountId);
  const account = await spendCode(right);
  if (account === null) throw codeInvalid();
  // An organization may have come to manage one of the addresses since the request began.
  await requireUnmanaged(ctx, account.email);
  await requireNewUnmanaged(ctx, email);
  if (holder !== null) await freeAddress(ctx, holder.id, email);
  const { email: from, emailProof } = account;
  await keepRemovals(ctx, account);
  await account.update({ ...provedByMail, email, signUpReplacedAt: null });
  await endSignIns(ctx, { accountId, but: ownSessionOf(ctx.actor) });
  await recordEvent(ctx, {
    kind: 'user.email.changed',
    ...eventAbout('user', account),
    data: { from, to: email },
  });
  await notify(
    ctx,
    { id: accountId, email: from, emailProof },
    { what: 'address-changed', address: 'old' },
  );
  await notify(ctx, account, { what: 'address-changed', address: 'new' });
  await rememberClient(ctx, email);
}

/** Whether no other account may get the address of this one. An unverified account gives it up. */
export function keepsAddress({
  emailProof,
  disabledAt,
}: Pick<Account, 'emailProof' | 'disabledAt'>): boolean {
  return emailProof !== 'none' || disabledAt !== null;
}

/**
 * Takes the address from an unverified account, with all credentials that its holder left (security
 * P11). Deletes the account, unless an organization has or had it as a member.
 */
async function freeAddress(ctx: Context, holderId: string, email: string): Promise<void> {
  const holder = await hold.account(holderId);
  if (holder === null || holder.email !== email) return;
  if (keepsAddress(holder)) throw codeInvalid();
  if (!(await isKnownToOrganizations(holderId))) return deleteAccount(ctx, holder);
  await takeOver(ctx, holder, { by: 'mail' });
  await keepRemovals(ctx, holder);
  await holder.update({ email: null, awaitsCode: false });
  await recordEvent(ctx, {
    kind: 'user.email.removed',
    ...eventAbout('user', holder),
    data: { email },
  });
}

async function isKnownToOrganizations(accountId: string): Promise<boolean> {
  const where = { accountId };
  if ((await Membership.count({ where })) > 0 || (await ScimRecord.count({ where })) > 0)
    return true;
  // Only an admin can undo a removal (security I5).
  return (await Tombstone.count({ where })) > 0;
}
