import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret } from '../../../crypto/secret.ts';
import {
  AccessToken,
  type TokenScope,
  tokenScopes,
} from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { requireSecondFactor } from '../../foundation/authority/second-factor.ts';
import { description, id, name } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { holdAccount } from '../accounts/account.ts';
import { ownOperation, ownOperationById } from '../accounts/own-operation.ts';
import {
  changedMeanwhile,
  marksOf,
  newTokenView,
  recordTokenEvent,
  tokenView,
  viewToken,
} from './token.ts';

// Personal access tokens (spec §2.7).

/** Lists the caller's tokens, oldest first and without their values. */
export const listTokens = ownOperation({
  authority: 'me.see',
  input: z.strictObject(pageInput),
  output: pageOf(tokenView),
  run: (_ctx, input, { accountId }) =>
    readRows(AccessToken, { where: { accountId } }, input, viewToken),
});

const maxAdminDays = 90;
const days = 'must be a whole number of days from 1 to 365';

// Characters that are invisible in a name.
const unseen = /\p{Default_Ignorable_Code_Point}/gu;

// Names that begin with `bot:` belong to apps (security P14).
const ownName = name.refine(
  (text) => !text.normalize('NFKC').replace(unseen, '').toLowerCase().trim().startsWith('bot:'),
  'must not begin with bot:, which is for the tokens of apps',
);

const createInput = z.strictObject({
  name: ownName,
  description: description.optional(),
  expiresInDays: z
    .number()
    .min(1, days)
    .max(365, days)
    .multipleOf(1, days)
    .optional()
    .describe(
      'Default: 90 days for a token with scope admin, which is also its maximum. ' +
        'Other tokens are valid until revoked.',
    ),
  scope: z
    .enum(tokenScopes, `must be one of ${tokenScopes.join(', ')}`)
    .optional()
    .describe(
      'read changes nothing. write (the default) changes things. admin also gives others access. ' +
        'A token can never do what needs a session. ' +
        'Only a session with your own second factor can create a token with scope admin.',
    ),
});

/** Creates a personal access token. */
export const createToken = ownOperation({
  authority: 'me.credentials',
  input: createInput,
  output: newTokenView,
  run: async (ctx, input, { accountId }) => {
    const { scope = 'write' } = input;
    await requireSecondFactorFor(ctx, scope);
    const { value, prefix, hash } = newSecret('cos_pat_');
    const expiresAt = endOf(ctx, scope, input.expiresInDays);
    const token = await transaction(async () => {
      await holdAccount(ctx, accountId);
      const made = await AccessToken.create({
        id: orderedId(),
        accountId,
        kind: 'pat',
        scope,
        name: input.name,
        description: input.description ?? null,
        prefix,
        hash,
        createdAt: ctx.now,
        expiresAt,
        ...(await marksOf(ctx)),
      });
      await recordTokenEvent(ctx, 'token.created', made, { scope });
      if (scope === 'admin') await tellOfAdminToken(ctx, made, false);
      return made;
    });
    return { ...viewToken(token), token: value };
  },
});

async function tellOfAdminToken(
  ctx: Context,
  { accountId, name }: AccessToken,
  regenerated: boolean,
): Promise<void> {
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  await notify(ctx, account, { what: 'admin-token-made', name, regenerated });
}

/** When the token expires; null for never, which scope admin does not allow (security P15). */
function endOf(
  ctx: Context,
  scope: TokenScope,
  days = scope === 'admin' ? maxAdminDays : undefined,
) {
  if (days === undefined) return null;
  if (scope === 'admin' && days > maxAdminDays) {
    const fault = `must be at most ${maxAdminDays} for a token with scope admin`;
    throw refuseField('expiresInDays', fault);
  }
  return new Date(ctx.now.getTime() + days * 24 * 3600 * 1000);
}

/**
 * Gives a token a new value (spec §3.5), and lifts a suspension. The old value is revoked
 * immediately; name, scope and expiry stay. Only one of several parallel calls succeeds, so that
 * every returned value works.
 */
export const regenerateToken = ownOperationById({
  authority: 'me.credentials',
  input: z.strictObject({ id }),
  output: newTokenView,
  run: async (ctx, input, whose) => {
    const token = await requireToken(input.id, whose);
    await requireSecondFactorFor(ctx, token.scope);
    requireRenewable(ctx, token);
    const { value, prefix, hash } = newSecret('cos_pat_');
    await transaction(async () => {
      // Locked, so that a new value is marked before the account joins an organization or becomes
      // owner.
      await holdAccount(ctx, token.accountId);
      const [changed] = await AccessToken.update(
        { prefix, hash, suspendedAt: null, ...(await marksOf(ctx)) },
        { where: { id: token.id, hash: token.hash } },
      );
      if (changed === 0) throw changedMeanwhile('token');
      await recordTokenEvent(ctx, 'token.regenerated', token);
      if (token.scope === 'admin') await tellOfAdminToken(ctx, token, true);
    });
    return { ...viewToken(token.set({ prefix, suspendedAt: null })), token: value };
  },
});

/** Revokes a token for good (spec §3.5): its row is deleted, and only the event remains. */
export const revokeToken = ownOperationById({
  authority: 'me.credentials',
  input: z.strictObject({ id }),
  output: tokenView,
  ends: {
    ask: ({ name, prefix }) => `Revoke the token ${name} (${prefix}…) for good?`,
    effects: () => ['Programs that use it stop working.'],
    done: ({ name, prefix }) => `Revoked the token ${name} (${prefix}…).`,
  },
  run: async (ctx, input, whose) => {
    const token = await requireToken(input.id, whose);
    await transaction(async () => {
      if ((await AccessToken.destroy({ where: { id: token.id } })) === 0)
        throw noSuchToken(token.id);
      await recordTokenEvent(ctx, 'token.revoked', token);
    });
    return viewToken(token);
  },
});

async function requireToken(id: string, whose: { accountId?: string }): Promise<AccessToken> {
  const token = await AccessToken.findOne({ where: { id, ...whose } });
  if (token === null) throw noSuchToken(id);
  return token;
}

function noSuchToken(id: string): Refusal {
  return new Refusal('not_found', `There is no token ${id}.`);
}

/** Refuses scope admin, unless the actor is the operator or has passed a second factor. */
async function requireSecondFactorFor(ctx: Context, scope: TokenScope): Promise<void> {
  if (scope === 'admin' && ctx.actor.kind !== 'operator')
    await requireSecondFactor(ctx, 'me.adminTokens');
}

function requireRenewable(ctx: Context, { kind, expiresAt }: AccessToken): void {
  if (kind === 'bot') {
    throw new Refusal('conflict', 'This token belongs to an app.', {
      hint: 'The app can ask for a new one.',
    });
  }
  if (expiresAt !== null && expiresAt <= ctx.now) {
    throw new Refusal('conflict', 'This token has expired. A new value would not extend it.', {
      hint: 'Revoke it and create another.',
    });
  }
}
