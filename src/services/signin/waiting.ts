import type { ConnectionKindName } from '../../connection-kinds.ts';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import type { EventActor } from '../../database/models/event.ts';
import { Membership } from '../../database/models/membership.ts';
import { shownIn } from '../foundation/authority/shown.ts';
import { type Pointing, viewApproval } from '../tenancy/connections/approval.ts';
import { type Connection, findConnections } from '../tenancy/connections/kinds.ts';

/** A connection that is waiting for an owner's approval. */
export interface Waiting {
  kind: ConnectionKindName;
  organization: { id: string; name: string };
  enabled: boolean;
  changedBy: EventActor | null;
  /** The address of the account that changed it: people choose their names themselves. */
  changedByEmail: string | null;
  pointsAt: string;
  /** Where the connection pointed when it was last approved; null if it never was. */
  before: Pointing | null;
  now: Pointing;
}

/** Lists the unapproved connections of the organizations that the account owns (security I8). */
export async function listWaiting(ctx: Context, accountId: string): Promise<Waiting[]> {
  const owned = await Membership.findAll({
    where: { accountId, role: 'owner' },
    include: { association: 'organization', required: true },
    order: ['organizationId'],
  });
  const organizations = new Map(owned.map(({ organization }) => [organization.id, organization]));
  const where = { organizationId: [...organizations.keys()], approved: false };
  const view = async ({ kind, row, points }: Connection) => {
    const { id = '', name = '' } = organizations.get(row.organizationId) ?? {};
    const { enabled, lastApproved: before } = row;
    const now = points(ctx);
    const { changedBy, pointsAt } = viewApproval(row, now);
    const changedByEmail = await findEmail(id, changedBy);
    const about = { kind, organization: { id, name }, enabled, changedBy, changedByEmail };
    return { ...about, pointsAt, before, now };
  };
  return Promise.all((await findConnections(where)).map(view));
}

/** The address of the actor's account, as the organization sees it. */
async function findEmail(organizationId: string, actor: EventActor | null): Promise<string | null> {
  const account = actor?.kind === 'user' ? await Account.findByPk(actor.id ?? '') : null;
  return account === null ? null : (await shownIn(organizationId, account)).email;
}
