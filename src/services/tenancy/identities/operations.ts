import { Op } from 'sequelize';
import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { id, instant, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../../foundation/page.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import { detachIdentities, recordUnlinked } from './detach.ts';

export const identityView = z.object({
  id,
  kind: z.enum(['sso', 'ldap', 'social']),
  /** The id of the connection, or the name of the social provider. */
  connection: z.string(),
  issuer: z.string(),
  subject: z.string(),
  linkedAt: instant,
  /** Its connection was removed. It keeps its account for a new connection in the same place. */
  former: z.literal(true).optional(),
});

/** The identities detached from an account, and how many sessions ended with them. */
export const unlinkedView = z.object({
  email: z.string().nullable(),
  name: z.string(),
  identities: z.array(identityView),
  sessionsEnded: z.int(),
});

/** Lists the external identities of an account, oldest first, also those of removed connections. */
export const listIdentities = operation({
  authority: 'operator',
  input: z.strictObject({ user: userRef, ...pageInput }),
  output: pageOf(identityView),
  run: async (_ctx, input) => {
    const { id: accountId } = await requireAccount(input.user);
    const isFormer = await findFormer(
      await Identity.findAll({ where: { accountId }, attributes: ['kind', 'connectionId'] }),
    );
    return readPage(
      input,
      (after, limit) =>
        Identity.findAll({ where: { accountId, id: { [Op.gt]: after } }, order: ['id'], limit }),
      (row) => row.id,
      (row) => viewIdentity(row, isFormer),
    );
  },
});

/** One identity, or all of the account's if no id is given. */
const unlinkInput = z
  .strictObject({ id: id.optional(), user: userRef.optional() })
  .refine((given) => given.id !== undefined || given.user !== undefined, {
    path: ['id'],
    error: 'is required, or --user',
  });

/**
 * Unlinks one external identity, or all of an account's, and ends the sessions that came through
 * them. The next sign-in by the account's address links the person that the provider then names
 * (security I1).
 */
export const unlinkIdentities = operation({
  authority: 'operator',
  input: unlinkInput,
  output: unlinkedView,
  run: (ctx, input) =>
    transaction(async () => {
      const identities = await requireIdentities(input);
      const account = await Account.findByPk(identities[0].accountId, { rejectOnEmpty: true });
      const isFormer = await findFormer(identities);
      const sessionsEnded = await detachIdentities(ctx, identities);
      for (const identity of identities) await recordUnlinked(ctx, identity, account.name);
      const { email, name } = account;
      const views = identities.map((identity) => viewIdentity(identity, isFormer));
      return { email, name, identities: views, sessionsEnded };
    }),
});

async function requireIdentities({
  id: which,
  user,
}: z.output<typeof unlinkInput>): Promise<[Identity, ...Identity[]]> {
  const account = user === undefined ? null : await requireAccount(user);
  const [first, ...more] = await Identity.findAll({
    where: {
      ...(which === undefined ? {} : { id: which }),
      ...(account === null ? {} : { accountId: account.id }),
    },
    order: ['id'],
  });
  if (first !== undefined) return [first, ...more];
  const whose = account === null ? 'There is no' : `${account.email ?? account.name} has no`;
  throw new Refusal('not_found', `${whose} identity${which === undefined ? '' : ` ${which}`}.`, {
    hint: 'idctl identity list --user EMAIL shows them.',
  });
}

type Key = Pick<Identity, 'kind' | 'connectionId'>;

/** Tells which of these identities are former ones: their connection was removed (security I1). */
async function findFormer(identities: Key[]): Promise<(identity: Key) => boolean> {
  const idsOf = (wanted: Key['kind']) =>
    identities.filter(({ kind }) => kind === wanted).map(({ connectionId }) => connectionId);
  const there = [
    ...(await SsoConnection.findAll({ where: { id: idsOf('sso') }, attributes: ['id'] })),
    ...(await LdapConnection.findAll({ where: { id: idsOf('ldap') }, attributes: ['id'] })),
  ];
  const ids = new Set(there.map((connection) => connection.id));
  return ({ kind, connectionId }) => kind !== 'social' && !ids.has(connectionId);
}

function viewIdentity(identity: Identity, isFormer: (identity: Key) => boolean) {
  return {
    id: identity.id,
    kind: identity.kind,
    connection: identity.connectionId,
    issuer: identity.issuer,
    subject: identity.subject,
    linkedAt: identity.linkedAt.toISOString(),
    ...(isFormer(identity) ? { former: true as const } : {}),
  };
}
