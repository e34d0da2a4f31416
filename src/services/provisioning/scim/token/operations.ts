import { z } from 'zod';
import { newSecret } from '../../../../crypto/secret.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { shellWord } from '../../../../shell-word.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { ref } from '../../../foundation/fields.ts';
import { operation } from '../../../foundation/operation.ts';
import { recordEarlierMembers } from '../../../tenancy/scim-records/member.ts';
import { newScimTokenView, scimTokenView, viewScimToken } from './view.ts';

const input = z.strictObject({ org: ref });

/** Shows whether there is a SCIM token, its prefix and its last use (spec §2.4). */
export const showScimToken = operation({
  authority: 'scim.see',
  input,
  output: scimTokenView,
  run: async (ctx, _input, { organization: { id } }) =>
    viewScimToken(ctx, id, await ScimToken.findByPk(id)),
});

/**
 * Gives the organization a new SCIM token, and revokes the old one at once (spec §3.5). Earlier
 * members without a record get one first, in separate transactions: without a token no client has
 * asked for them.
 */
export const rotateScimToken = operation({
  authority: 'scim.rotate',
  input,
  output: newScimTokenView,
  run: async (ctx, _input, { organization }) => {
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
  },
});

/** Revokes the organization's SCIM token: the client is cut off (spec §3.5), the members stay. */
export const revokeScimToken = operation({
  authority: 'scim.revoke',
  input,
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
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
    }),
});
