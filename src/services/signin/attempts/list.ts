import { Op } from 'sequelize';
import { SsoAttempt } from '../../../database/models/sso-attempt.ts';
import { operation } from '../../foundation/operation.ts';
import { readPage } from '../../foundation/page.ts';
import { requireSsoConnection } from '../../tenancy/sso/find.ts';
import { attemptPage, listAttemptsInput } from './schema.ts';

/** Lists the last sign-ins through the organization's connection, newest first. */
export const listAttempts = operation({
  authority: 'sso.see',
  input: listAttemptsInput,
  output: attemptPage,
  run: async (_ctx, input, { organization }) => {
    const { id: connectionId } = await requireSsoConnection(organization);
    const before = input.cursor === undefined ? {} : { id: { [Op.lt]: input.cursor } };
    const wanted = input.reference === undefined ? {} : { reference: input.reference };
    return readPage(
      input,
      (_, limit) =>
        SsoAttempt.findAll({
          where: { connectionId, ...wanted, ...before },
          order: [['id', 'DESC']],
          limit,
        }),
      ({ id }) => id,
      view,
    );
  },
});

function view(attempt: SsoAttempt) {
  const { id, at, connectionId, stage, ok, code, email, groups, groupsMalformed, reference } =
    attempt;
  return {
    id,
    at: at.toISOString(),
    connection: connectionId,
    stage,
    ok,
    ...(code === null ? {} : { code }),
    ...(email === null ? {} : { email }),
    ...(groups === null && !groupsMalformed ? {} : { groups }),
    ...(reference === null ? {} : { reference }),
  };
}
