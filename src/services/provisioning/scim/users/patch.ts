import type { Context } from '../../../../context.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { isComplex } from '../../../foundation/scim-user/values.ts';
import type { Entry } from '../../../tenancy/scim-records/record.ts';
import { applyPatch, type Own } from '../patch.ts';
import { readProjection } from '../view.ts';
import { changeUser, type Decided } from './change.ts';
import type { AtUser } from './input.ts';
import { type Presented, presentUser } from './present.ts';

/** Applies all operations to a User, or none (RFC 7644 §3.5.2, spec §4.3). */
export async function patchUser(
  ctx: Context,
  input: AtUser & { body: unknown },
): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const record = await changeUser(ctx, organizationId, input, (now, held) =>
    patched(now, input.body, ownOf(ctx, held)),
  );
  return presentUser(ctx, record, project);
}

/** The record's id and meta as clients see them. */
function ownOf(ctx: Context, record: Entry): Own {
  const { meta } = presentUser(ctx, record, (view) => view).body;
  return { id: record.id, meta: isComplex(meta) ? meta : {} };
}

function patched(now: Decided, body: unknown, own: Own): Decided {
  const { resource, active, changed } = applyPatch(now, body, own);
  // The name of a record cannot be removed: `applyPatch` refuses that.
  return changed ? ({ ...resource, active } as Decided) : now;
}
