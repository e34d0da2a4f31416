import type { Identity } from '../../database/models/identity.ts';

/** An identity as the operator sees it. */
export function viewIdentity(identity: Identity) {
  return {
    id: identity.id,
    kind: identity.kind,
    connection: identity.connectionId,
    issuer: identity.issuer,
    subject: identity.subject,
    linkedAt: identity.linkedAt.toISOString(),
  };
}
