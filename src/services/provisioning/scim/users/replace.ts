import type { Context } from '../../../../context.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { readReplacement } from '../../../foundation/scim-user/resource.ts';
import { readProjection } from '../view.ts';
import { changeUser } from './change.ts';
import type { AtUser } from './input.ts';
import { type Presented, presentUser } from './present.ts';

/** Replaces a User (spec §4.3). `active` defaults to true. */
export async function replaceUser(
  ctx: Context,
  input: AtUser & { body: unknown },
): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const record = await changeUser(ctx, organizationId, input, (now) =>
    readReplacement(input.body, now),
  );
  return presentUser(ctx, record, project);
}
