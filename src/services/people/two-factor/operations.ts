import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newTotpSecret, totpUri } from '../../../crypto/totp.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { isRehearsed, transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import type { Part } from '../../../next.ts';
import { counted } from '../../../text/words.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { after } from '../../foundation/time.ts';
import {
  discardTotp,
  holdAccount,
  requireAccount,
  userRefInput,
  userView,
  viewUser,
} from '../accounts/account.ts';
import { ownOperation } from '../accounts/own-operation.ts';
import {
  endSessionsPastSecondFactor,
  forgetSecondFactor,
  ownSessionOf,
  passSecondFactor,
} from '../sessions/end.ts';
import { marksOf } from '../tokens/token.ts';
import { requireRecentSignIn } from './recent.ts';
import { firstRecoveryCodes, makeFirstRecoveryCodes } from './recovery-codes.ts';
import { factorsGone, removeFactors } from './removal.ts';
import {
  acceptSecondFactor,
  isGiven,
  proveSecondFactor,
  requireRightCode,
  sealTotpSecret,
  secondFactorFields,
} from './second-factor.ts';

// The authenticator app of an account, which is a second factor (spec §3.4).

const pendingSeconds = 15 * 60;

const code = z.string().regex(/^[0-9]{6}$/, 'must be the six digits that the authenticator shows');

const twoFactorView = z.object({ twoFactorEnabled: z.boolean() });

/**
 * Begins an enrolment with a new secret, shown only once. A code must confirm it within 15 minutes.
 * Refuses with `already_exists` if an authenticator is enabled.
 */
export const startTotp = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({}),
  output: z.object({ secret: z.string(), otpauthUri: z.string() }),
  run: async (ctx, _input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    await requireRecent(ctx, account);
    const secret = newTotpSecret();
    await transaction(async () => {
      const pending = {
        totpSecret: sealTotpSecret(ctx, account.id, secret),
        totpStartedAt: ctx.now,
      };
      const [started] = await Account.update(pending, {
        where: { id: account.id, totpEnabledAt: null },
      });
      if (started === 0) throw alreadyEnabled();
    });
    const issuer = ctx.config.instance.name;
    return {
      secret,
      otpauthUri: totpUri({ secret, issuer, account: account.email ?? account.name }),
    };
  },
});

/** Enables the authenticator app with a code of the pending secret. */
export const confirmTotp = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({ code }),
  output: twoFactorView.extend({ recoveryCodes: firstRecoveryCodes }),
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const { totpSecret, totpStartedAt: begun, totpEnabledAt } = account;
    if (totpEnabledAt !== null) throw alreadyEnabled();
    if (totpSecret === null || begun === null || after(begun, pendingSeconds) < ctx.now) {
      throw new Refusal(
        'conflict',
        'There is no enrolment to confirm, or it began more than 15 minutes ago.',
        { hint: { say: 'Start again', operation: 'totp.enroll' } },
      );
    }
    await requireRecent(ctx, account, begun);
    const step = await requireRightCode(ctx, { id: account.id, totpSecret }, input.code);
    const recoveryCodes = await transaction(async () => {
      await holdAccount(ctx, account.id);
      // A passkey may have been added since the first check.
      await requireRecent(ctx, await account.reload(), begun);
      const made = await marksOf(ctx);
      const marks = { totpVouchedBy: made.vouchedBy, totpUnapproved: made.unapproved };
      const enabled = { totpEnabledAt: ctx.now, totpLastStep: step, ...marks };
      const [changed] = await Account.update(enabled, {
        where: { id: account.id, totpSecret, totpEnabledAt: null },
      });
      if (changed === 0)
        throw new Refusal('conflict', 'The enrolment was changed in the meantime.', {
          hint: 'Start again.',
        });
      await endSessionsPastSecondFactor(ctx, account.id, ownSessionOf(ctx.actor));
      await passSecondFactor(ctx, made);
      await recordEvent(ctx, { kind: 'user.totp.enabled', ...eventAbout('user', account) });
      const codes = await makeFirstRecoveryCodes(ctx, account.id, made);
      const withCodes = codes.recoveryCodes !== undefined;
      await notify(ctx, account, { what: 'authenticator-added', withCodes });
      return codes;
    });
    return { twoFactorEnabled: true, ...recoveryCodes };
  },
});

/**
 * Requires a sign-in of the person that was recent at the start of the enrolment (security P17). A
 * thief of an older session could otherwise lock the person out.
 */
async function requireRecent(ctx: Context, account: Account, at = ctx.now): Promise<void> {
  if (ctx.actor.kind !== 'operator') await requireRecentSignIn(ctx, account, { at });
}

function alreadyEnabled(): Refusal {
  return new Refusal('already_exists', 'An authenticator app is already enabled.', {
    hint: 'Disable it with a current code first. Then start a new enrolment.',
  });
}

/** Disables the authenticator app with a current code or a recovery code. Deletes its secret. */
export const disableTotp = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({
    code: code.optional(),
    recoveryCode: secondFactorFields.recoveryCode,
  }),
  output: twoFactorView,
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const { id } = account;
    if (account.totpEnabledAt === null) {
      throw new Refusal('conflict', 'No authenticator app is enabled.');
    }
    const given = { totpCode: input.code, recoveryCode: input.recoveryCode };
    if (!isGiven(given)) throw refuseField('code', 'is required');
    // A rehearsal does not check the code, because its rollback would undo the count of wrong
    // codes.
    const answer = isRehearsed() ? null : await proveSecondFactor(ctx, account, given, 'confirm');
    await transaction(async () => {
      if (answer !== null) await holdAccount(ctx, id);
      // A passkey may have been added since the check of the code.
      await account.reload();
      const endsCodes = account.hasRecoveryCodes && !account.hasPasskey;
      if (answer !== null) await acceptSecondFactor(ctx, account, answer, { endsCodes });
      await discardTotp(id);
      await forgetSecondFactor(id, ownSessionOf(ctx.actor));
      await recordEvent(ctx, { kind: 'user.totp.disabled', ...eventAbout('user', account) });
      await notify(ctx, account, { what: 'authenticator-removed', codesEnded: endsCodes });
    });
    // A passkey is a second factor too.
    return { twoFactorEnabled: account.hasPasskey };
  },
});

export const totpResetView = userView.extend({
  authenticatorRemoved: z.boolean(),
  passkeysRemoved: z.int(),
  passkeysLeft: z.int(),
});

/** Says how many passkeys remain: an attacker may have added one, and can still sign in with it. */
export function passkeysLeft(left: number, user: string): Part[] {
  return [
    `${counted(left, 'passkey is', 'passkeys are')} left and may sign in alone.`,
    { to: 'remove them', operation: 'user.remove-factors', with: { user } },
  ];
}

/**
 * Removes the authenticator of a person who lost it; the operator decides (security P12). With
 * `passkeys`, removes all passkeys too. Refuses with `conflict` if there is nothing to remove.
 */
export const resetTotp = operation({
  authority: 'operator',
  input: userRefInput.extend({ passkeys: z.boolean().default(false) }),
  output: totpResetView,
  ends: {
    ask: (view) => `Remove ${factorsGone(view)} of ${view.email ?? view.name}?`,
    done: (view, { user }) => [
      `Removed ${factorsGone(view)} of ${view.email ?? view.name}.`,
      ...(view.passkeysLeft === 0
        ? ['There is no second factor now.']
        : passkeysLeft(view.passkeysLeft, user)),
    ],
  },
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    return transaction(async () => {
      await hold.account(account.id);
      await account.reload();
      const passkeys = await Passkey.findAll({ where: { accountId: account.id }, order: ['id'] });
      const gone = input.passkeys ? passkeys : [];
      if (account.totpSecret === null && gone.length === 0)
        throw nothingToReset(account, passkeys.length > 0);
      const removed = await removeFactors(ctx, account, gone);
      await recordEvent(ctx, { kind: 'user.totp.reset', ...eventAbout('user', account) });
      await notify(ctx, account, { what: 'second-factor-reset', by: null });
      return {
        ...viewUser(ctx, await account.reload()),
        ...removed,
        passkeysLeft: passkeys.length - gone.length,
      };
    });
  },
});

function nothingToReset({ email, name }: Account, hasPasskeys: boolean): Refusal {
  const lacks = hasPasskeys ? 'no authenticator app' : 'no authenticator app and no passkeys';
  const message = `${email ?? name} has ${lacks}. Nothing was changed.`;
  if (!hasPasskeys) return new Refusal('conflict', message);
  return new Refusal('conflict', message, {
    hint: 'The second factor is a passkey. To remove all passkeys, add --passkeys.',
  });
}
