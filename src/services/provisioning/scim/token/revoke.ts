import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { shellWord } from '../../../../shell-word.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import type { scimTokenInput } from './schema.ts';
import { viewScimToken } from './view.ts';

/** Ends the organization's SCIM token: the connection is cut off (spec §3.5), who came by it stays. */
export async function revokeScimToken(ctx: Context, input: z.output<typeof scimTokenInput>) {
  const { organization } = await requireAuthority(ctx, 'scim.revoke', input.org);
  return transaction(async () => {
    const token = await ScimToken.findByPk(organization.id);
    if (token === null || (await ScimToken.destroy({ where: { hash: token.hash } })) === 0) {
      throw new Refusal('not_found', `${organization.slug} has no SCIM token.`, {
        hint: `Make one with: idctl scim token rotate --org ${shellWord(organization.slug)}`,
      });
    }
    await recordEvent(ctx, {
      kind: 'scim.token.revoked',
      organizationId: organization.id,
      subject: { type: 'scimToken', id: organization.id, name: token.prefix },
    });
    return viewScimToken(ctx, organization.id, token);
  });
}
