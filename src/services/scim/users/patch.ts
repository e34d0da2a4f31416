import type { Context } from '../../../context.ts';
import { requireScim } from '../../authority/require.ts';
import { applyPatch } from '../patch.ts';
import { readProjection } from '../view.ts';
import { changeUser, type Decided } from './change.ts';
import type { AtUser } from './input.ts';
import { type Presented, present } from './present.ts';

/** Changes a User operation by operation, all of them or none (RFC 7644 §3.5.2, spec §4.3). */
export async function patchUser(ctx: Context, input: AtUser & { body: unknown }): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const record = await changeUser(ctx, organizationId, input, (now) => patched(now, input.body));
  return present(ctx, record, project);
}

function patched(now: Decided, body: unknown): Decided {
  const { resource, active, changed } = applyPatch(now, body);
  // The name of a record cannot be removed: `applyPatch` refuses that.
  return changed ? ({ ...resource, active } as Decided) : now;
}
