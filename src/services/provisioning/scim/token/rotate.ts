import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { newSecret } from '../../../../crypto/secret.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { transaction } from '../../../../database/transaction.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { recordEarlierMembers } from '../../../tenancy/scim-records/earlier.ts';
import type { scimTokenInput } from './schema.ts';
import { viewScimToken } from './view.ts';

/**
 * Gives the organization a new SCIM token, the one before stopping at once (spec §3.5). Members from before there were
 * records get theirs first, in transactions of their own: without a token nobody has asked for them.
 */
export async function rotateScimToken(ctx: Context, input: z.output<typeof scimTokenInput>) {
  const { organization } = await requireAuthority(ctx, 'scim.rotate', input.org);
  await recordEarlierMembers(organization.id);
  const { value, prefix, hash } = newSecret('scim_');
  const token = await transaction(async () => {
    const former = await ScimToken.findByPk(organization.id);
    const created = { createdAt: ctx.now, lastUsedAt: null, suspendedAt: null };
    const row = { organizationId: organization.id, prefix, hash, ...created };
    await ScimToken.upsert(row);
    await recordEvent(ctx, {
      kind: former === null ? 'scim.token.created' : 'scim.token.rotated',
      organizationId: organization.id,
      subject: { type: 'scimToken', id: organization.id, name: prefix },
    });
    return ScimToken.build(row);
  });
  return { ...viewScimToken(ctx, organization.id, token), token: value };
}
