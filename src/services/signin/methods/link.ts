import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hashOfToken, randomToken } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { LoginLink } from '../../../database/models/login-link.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { operation } from '../../foundation/operation.ts';
import { after } from '../../foundation/time.ts';
import { requireAccount, userRefInput } from '../../people/accounts/account.ts';
import { loginLinkView, type openLoginLinkInput } from '../../people/sessions/schema.ts';
import { beginSession } from '../begin.ts';
import { method } from '../method.ts';

// Break-glass (security O4): the operator on the host signs a person in, whatever the settings are.

type Input = z.output<typeof openLoginLinkInput>;

const linkSeconds = 600;

/**
 * Creates a link that signs the account in once, within ten minutes; an earlier link becomes
 * invalid.
 */
export const createLoginLink = operation({
  authority: 'operator',
  input: userRefInput,
  output: loginLinkView,
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    const token = randomToken(256);
    const expiresAt = after(ctx.now, linkSeconds);
    await transaction(async () => {
      // A link must not be created while another transaction ends the account's links.
      const held = await hold.account(account.id);
      if (held === null || held.disabledAt !== null) throw disabled(account);
      await LoginLink.destroy({ where: { accountId: account.id } });
      await LoginLink.create({ id: hashOfToken(token), accountId: account.id, expiresAt });
      await recordEvent(ctx, {
        kind: 'user.login_link.created',
        subject: { type: 'user', id: account.id, name: account.name },
      });
    });
    return {
      url: `${ctx.config.baseUrl}/login/link?token=${token}`,
      expiresAt: expiresAt.toISOString(),
    };
  },
});

/** Shows the person of an unused link, without using the link up. */
export async function lookAtLoginLink(ctx: Context, { token }: Input) {
  const { email, name } = await requireLinked(ctx, token);
  return { email, name };
}

interface ByLoginLink {
  input: Input;
  at: null;
  seen: Account;
  proof: Record<string, never>;
}

/**
 * The sign-in with the operator's link, which does not replace the second factor. The link is used
 * up when the session begins, or when the arrival is held for the second factor.
 */
export const byLoginLink = method<ByLoginLink>({
  name: 'loginLink',
  offered: (_, __, signIn) => signIn(null),
  look: (ctx, { input: { token } }) => requireLinked(ctx, token),
  prove: async (_, { seen: account }) => ({ proof: {}, account }),
  secondFactor: { inTwoSteps: 'always' },
  spend: ({ input: { token }, seen: account }) => spendLink(account, token),
  enter: async (ctx, _, { account, secondFactor }) => {
    if (account === undefined) throw new Error('a sign-in by login link has no account');
    return beginSession(ctx, account, { method: 'loginLink', secondFactor });
  },
  events: {},
});

/** Returns the account of an unused link; refuses with `invalid_credential`. */
async function requireLinked(ctx: Context, token: string): Promise<Account> {
  const link = await LoginLink.findByPk(hashOfToken(token));
  if (link === null || link.expiresAt <= ctx.now) throw spent();
  return Account.findByPk(link.accountId, { rejectOnEmpty: true });
}

/** Uses the link up. Call it inside a transaction; of two parallel uses, only one succeeds. */
async function spendLink({ id }: Account, token: string): Promise<void> {
  await hold.account(id);
  if ((await LoginLink.destroy({ where: { id: hashOfToken(token) } })) === 0) throw spent();
}

function spent(): Refusal {
  return new Refusal(
    'invalid_credential',
    'This link is invalid, has already been used, or is more than ten minutes old.',
    { hint: 'Ask the operator for a new link.' },
  );
}

function disabled({ id, email, name }: Account): Refusal {
  return new Refusal('conflict', `The account of ${email ?? name} is disabled.`, {
    hint: { say: 'Enable it first', operation: 'user.enable', with: { user: email ?? id } },
  });
}
