import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import type { SsoConnection } from '../../database/models/sso-connection.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { requireAuthority, requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { detachIdentities } from '../identities/detach.ts';
import { requireConnection } from './find.ts';
import type { relinkSsoInput } from './schema.ts';

/**
 * After a change of provider: forgets the keys that the old one gave for this organization's connection, with the
 * sessions that came by them, so that the same people are linked again by their verified address at the next
 * sign-in (security I1). Says who they are.
 */
export async function relinkSso(ctx: Context, input: z.output<typeof relinkSsoInput>) {
  requireOperator(ctx);
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const identities = await requireIdentitiesOf(connection, input.fromIssuer);
    const sessionsEnded = await detachIdentities(ctx, identities);
    await recordEvent(ctx, {
      kind: 'sso.relinked',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
      data: { fromIssuer: input.fromIssuer, people: identities.length, sessionsEnded },
    });
    const people = identities.map(({ account }) => account.email ?? account.name);
    return { fromIssuer: input.fromIssuer, issuer: connection.issuer, people, sessionsEnded };
  });
}

async function requireIdentitiesOf({ id }: SsoConnection, issuer: string): Promise<Identity[]> {
  const identities = await Identity.findAll({
    where: { connectionId: id, issuer },
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
  if (identities.length > 0) return identities;
  const others = await Identity.findAll({
    where: { connectionId: id },
    attributes: ['issuer'],
    group: 'issuer',
  });
  throw new Refusal('not_found', `Nobody is linked by ${issuer}.`, {
    hint:
      others.length === 0
        ? 'Nobody is linked through this connection: there is nobody to link anew.'
        : `People are linked by: ${others.map((other) => other.issuer).join(', ')}`,
  });
}
