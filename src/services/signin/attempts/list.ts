import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SsoAttempt } from '../../../database/models/sso-attempt.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import { requireSsoConnection } from '../../tenancy/sso/connection.ts';
import type { listAttemptsInput } from './schema.ts';

/** Lists the last sign-ins through the organization's connection, newest first. */
export async function listAttempts(ctx: Context, input: z.output<typeof listAttemptsInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.see', input.org);
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
}

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
