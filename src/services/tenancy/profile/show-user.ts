import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { listLockouts } from '../../foundation/limits/password.ts';
import { operation } from '../../foundation/operation.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import { userRefInput } from '../../people/accounts/schema.ts';
import { viewUser } from '../../people/accounts/view.ts';
import { listCredentials } from '../../people/credentials/list-credentials.ts';
import { shownUserView } from '../../people/users/view.ts';
import { hasSso } from '../signin-settings/methods.ts';

/** Shows one account, its lockouts and credentials: an earlier holder may have left some. */
export const showUser = operation({
  authority: 'operator',
  input: userRefInput,
  output: shownUserView,
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    const { emailProof, awaitsCode } = account;
    const credentials = await listCredentials(ctx, account.id);
    const lockouts = await listLockouts(ctx, account);
    const singleSignOn = account.email !== null && (await hasSso(ctx, domainOf(account.email)));
    return {
      ...viewUser(ctx, account),
      emailProof,
      awaitsCode,
      credentials,
      singleSignOn,
      lockouts,
    };
  },
});
