import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import { detachIdentities, recordUnlinked } from './detach.ts';
import type { unlinkIdentitiesInput } from './schema.ts';
import { findFormer, viewIdentity } from './view.ts';

type Input = z.output<typeof unlinkIdentitiesInput>;

/**
 * Takes one outside identity off its account, or all that the account has, with the sessions that came
 * through them. The next sign-in by the account's address links anew, whoever the provider says it is (security I1).
 */
export async function unlinkIdentities(ctx: Context, input: Input) {
  requireOperator(ctx);
  return transaction(async () => {
    const identities = await requireIdentities(input);
    const account = await Account.findByPk(identities[0].accountId, { rejectOnEmpty: true });
    const isFormer = await findFormer(identities);
    const sessionsEnded = await detachIdentities(ctx, identities);
    for (const identity of identities) await recordUnlinked(ctx, identity, account.name);
    const { email, name } = account;
    const views = identities.map((identity) => viewIdentity(identity, isFormer));
    return { email, name, identities: views, sessionsEnded };
  });
}

async function requireIdentities({ id, user }: Input): Promise<[Identity, ...Identity[]]> {
  const account = user === undefined ? null : await requireAccount(user);
  const [first, ...more] = await Identity.findAll({
    where: { ...(id === undefined ? {} : { id }), ...(account === null ? {} : { accountId: account.id }) },
    order: ['id'],
  });
  if (first !== undefined) return [first, ...more];
  const whose = account === null ? 'There is no' : `${account.email ?? account.name} has no`;
  throw new Refusal('not_found', `${whose} identity${id === undefined ? '' : ` ${id}`}.`, {
    hint: 'idctl identity list --user EMAIL shows them.',
  });
}
