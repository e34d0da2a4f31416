import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { id, name } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { holdAccount } from '../../people/accounts/account.ts';
import { ownOperation } from '../../people/accounts/own-operation.ts';
import { askForPasskey, requestOptions } from '../../people/passkeys/assertion.ts';
import { browserCookie } from '../../people/passkeys/challenge.ts';
import {
  addPasskey,
  passkeyView,
  recordRefusedPasskey,
  removePasskeys,
  viewPasskey,
} from '../../people/passkeys/passkey.ts';
import {
  askForNewPasskey,
  checkRegistration,
  creationOptions,
  registrationBegan,
  registrationInput,
} from '../../people/passkeys/registration.ts';
import { requireAddressForPasskeys } from '../../people/passkeys/relying-party.ts';
import { ownSessionOf, passSecondFactor } from '../../people/sessions/end.ts';
import { marksOf } from '../../people/tokens/token.ts';
import { requireRecentSignIn } from '../../people/two-factor/recent.ts';
import {
  firstRecoveryCodes,
  makeFirstRecoveryCodes,
} from '../../people/two-factor/recovery-codes.ts';
import { findMethodRefusal } from '../../tenancy/signin-settings/methods.ts';
import { hasWayIn } from '../../tenancy/signin-settings/ways.ts';

// The passkeys of an account. Signing in with one is in flow.ts.

/** How many passkeys an account may have. */
export const maxPasskeys = 20;

/** Lists the passkeys of an account, oldest first. */
export const listPasskeys = ownOperation({
  authority: 'me.see',
  input: z.strictObject(pageInput),
  output: pageOf(passkeyView),
  run: (_ctx, input, { accountId }) =>
    readRows(Passkey, { where: { accountId } }, input, viewPasskey),
});

/** The options to create a passkey with. */
export const optionsToAdd = operation({
  authority: 'me.credentials',
  input: z.strictObject({ browser: browserCookie }),
  output: creationOptions,
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    await requireMayAdd(ctx, account, input.browser);
    const { options, browser } = await askForNewPasskey(ctx, accountId, input.browser);
    return { ...options, browser };
  },
});

/** Adds the passkey that the person's authenticator has created. */
export const registerPasskey = operation({
  authority: 'me.credentials',
  input: z.strictObject({
    name: name.optional(),
    credential: registrationInput,
    browser: browserCookie,
  }),
  output: passkeyView.extend({ recoveryCodes: firstRecoveryCodes }),
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    // The sign-in needs to have been recent when the registration began (security P17).
    const at = registrationBegan(ctx, input.credential) ?? ctx.now;
    await requireMayAdd(ctx, account, input.browser, at);
    const checked = await checkRegistration(ctx, input.credential, accountId, input.browser);
    if ('refused' in checked) {
      const { refused: reason } = checked;
      await recordRefusedPasskey(ctx, account, { purpose: 'register', reason });
      throw new Refusal('conflict', 'This passkey could not be added.', {
        hint: 'Try again, or use another device.',
        reason,
      });
    }
    const made = transaction(async () => {
      await holdAccount(ctx, accountId);
      const now = await Account.findByPk(accountId, { rejectOnEmpty: true });
      // A second factor may have been enabled since the registration began.
      await requireRecentSignIn(ctx, now, { at });
      const count = await Passkey.count({ where: { accountId } });
      if (count >= maxPasskeys) throw tooMany();
      const given = { ...checked, name: input.name ?? `Passkey ${count + 1}` };
      const marks = await marksOf(ctx);
      const passkey = await addPasskey(ctx, now, { ...given, ...marks });
      if (!hasSecondFactor(now)) await passSecondFactor(ctx, marks);
      const codes = await makeFirstRecoveryCodes(ctx, accountId, marks);
      const withCodes = codes.recoveryCodes !== undefined;
      await notify(ctx, now, { what: 'passkey-added', name: passkey.name, withCodes });
      return { passkey, codes };
    });
    const message = 'This passkey has already been added.';
    const { passkey, codes } = await refusingDuplicate(made, { message });
    return { ...viewPasskey(passkey), ...codes };
  },
});

/** Refuses if passkeys do not work or are switched off, or the session has no recent proof. */
async function requireMayAdd(
  ctx: Context,
  account: Account,
  browser: string | undefined,
  at: Date = ctx.now,
): Promise<void> {
  requireAddressForPasskeys(ctx);
  const off = await findMethodRefusal(ctx, account, { method: 'passkey' });
  if (off !== null) {
    throw new Refusal('signin_method_off', 'Passkeys are switched off for your address.', {
      hint: 'Ask your administrator.',
    });
  }
  await requireRecentSignIn(ctx, account, { browser, at });
}

function tooMany(): Refusal {
  return new Refusal('conflict', `An account can have at most ${maxPasskeys} passkeys.`, {
    hint: 'Remove one that you no longer use.',
  });
}

/** Renames one of the caller's passkeys. */
export const renamePasskey = operation({
  authority: 'me.credentials',
  input: z.strictObject({ id, name }),
  output: passkeyView,
  run: (ctx, input, { accountId }) =>
    transaction(async () => {
      const passkey = await requirePasskey(accountId, input.id);
      const from = passkey.name;
      if (from === input.name) return viewPasskey(passkey);
      await passkey.update({ name: input.name });
      const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
      const data = { passkey: passkey.id, name: input.name, from };
      await recordEvent(ctx, {
        kind: 'user.passkey.renamed',
        ...eventAbout('user', account),
        data,
      });
      return viewPasskey(passkey);
    }),
});

/**
 * Removes a passkey, and ends the other sessions that began with a passkey. A person needs a recent
 * sign-in and another way to sign in. The operator does not.
 */
export const removePasskey = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({ id }),
  output: passkeyView,
  ends: {
    ask: ({ name }) => `Remove the passkey ${name}?`,
    effects: () => ['Other sessions that began with a passkey end.'],
    done: ({ name }) => `Removed the passkey ${name}.`,
  },
  run: (ctx, input, { accountId }) =>
    transaction(async () => {
      await holdAccount(ctx, accountId);
      const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
      const passkey = await requirePasskey(accountId, input.id);
      if (ctx.actor.kind !== 'operator') {
        await requireRecentSignIn(ctx, account);
        await requireOtherWayIn(ctx, account, passkey);
      }
      await removePasskeys(ctx, account, [passkey], { but: ownSessionOf(ctx.actor) });
      return viewPasskey(passkey);
    }),
});

async function requireOtherWayIn(ctx: Context, account: Account, { id }: Passkey): Promise<void> {
  if (!(await hasWayIn(ctx, account)) || (await hasWayIn(ctx, account, { without: id }))) return;
  throw new Refusal('last_way_in', 'This passkey is your only way to sign in.', {
    hint: 'Add another passkey or choose a password first.',
  });
}

async function requirePasskey(accountId: string, id: string): Promise<Passkey> {
  const passkey = await Passkey.findOne({ where: { id, accountId } });
  if (passkey !== null) return passkey;
  throw new Refusal('not_found', `There is no passkey ${id}.`, {
    hint: { to: 'list them', operation: 'passkey.list' },
  });
}

/** The options to sign in with only a passkey. */
export const optionsToSignIn = operation({
  authority: 'public',
  input: z.strictObject({ browser: browserCookie }),
  output: requestOptions,
  run: async (ctx, input) => {
    requireAddressForPasskeys(ctx);
    const bound = { purpose: 'signIn', accountId: null } as const;
    const { options, browser } = await askForPasskey(ctx, bound, input.browser);
    return { ...options, browser };
  },
});
