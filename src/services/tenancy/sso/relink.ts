import { z } from 'zod';
import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import { Identity } from '../../../database/models/identity.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { aboutSso } from '../connections/sso.ts';
import { freeAccounts } from '../identities/operations.ts';
import { requireSsoConnection, ssoRelinkedView } from './connection.ts';
import { providerId } from './schema.ts';

/**
 * Deletes the keys of the old provider, former keys included, and ends the sessions through them.
 * Use it after a change of provider. The next sign-in links the person by the verified address
 * (security I1).
 */
export const relinkSso = operation({
  authority: 'sso.relink',
  input: z.strictObject({ org: ref, fromIssuer: providerId }),
  output: ssoRelinkedView,
  run: (ctx, { fromIssuer }, { organization }) =>
    transaction(async () => {
      const connection = await requireSsoConnection(organization);
      const { issuer } = connection;
      const keys = { kind: connectionKinds.sso.name, organizationId: organization.id };
      const { people, sessionsEnded } = await freeAccounts(ctx, { ...keys, issuer: fromIssuer });
      if (people.length === 0) throw await nobodyLinked(keys, fromIssuer);
      await recordEvent(ctx, {
        kind: 'sso.relinked',
        ...aboutSso(connection),
        data: { fromIssuer, people: people.length, sessionsEnded },
      });
      return { fromIssuer, issuer, people, sessionsEnded };
    }),
});

async function nobodyLinked(
  where: { kind: ConnectionKindName; organizationId: string },
  issuer: string,
): Promise<Refusal> {
  const others = await Identity.findAll({ where, attributes: ['issuer'], group: 'issuer' });
  return new Refusal('not_found', `No account is linked through ${issuer}.`, {
    hint:
      others.length === 0
        ? 'No account is linked through single sign-on, so there is nothing to relink.'
        : `Name an issuer that accounts are linked through: ${others.map((other) => other.issuer).join(', ')}`,
  });
}
