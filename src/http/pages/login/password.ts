import { z } from 'zod';
import { email } from '../../../services/foundation/fields.ts';
import { givenPassword } from '../../../services/people/accounts/account.ts';
import { signIn } from '../../../services/signin/flow.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { form } from '../page.ts';
import { arrive } from './enter.ts';
import { showMethods } from './methods.ts';
import { returnTo } from './place.ts';

/** Signs in with address and password. */
export const passwordPage = form({
  path: '/login/password',
  access: 'public',
  input: z.strictObject({ email, password: givenPassword, returnTo }),
  act: async (visit, { returnTo, ...input }) => {
    const target = requireReturnTo(visit.ctx, returnTo);
    return arrive(await signIn(visit.ctx, input, { returnTo: target }), target);
  },
  refused: (visit) => {
    const { email: identifier = '', returnTo } = visit.given;
    return showMethods(visit, { identifier, returnTo }, 'password');
  },
});
