import type { Identity } from '../../../database/models/identity.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';

type Key = Pick<Identity, 'kind' | 'connectionId'>;

/** Tells of these identities which are former ones, whose connection was removed (security I1). */
export async function findFormer(identities: Key[]): Promise<(identity: Key) => boolean> {
  const idsOf = (wanted: Key['kind']) =>
    identities.filter(({ kind }) => kind === wanted).map(({ connectionId }) => connectionId);
  const there = [
    ...(await SsoConnection.findAll({ where: { id: idsOf('sso') }, attributes: ['id'] })),
    ...(await LdapConnection.findAll({ where: { id: idsOf('ldap') }, attributes: ['id'] })),
  ];
  const ids = new Set(there.map(({ id }) => id));
  return ({ kind, connectionId }) => kind !== 'social' && !ids.has(connectionId);
}

/** An identity as the operator sees it. */
export function viewIdentity(identity: Identity, isFormer: (identity: Key) => boolean) {
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
