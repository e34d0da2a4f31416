import { DataTypes, type QueryInterface, QueryTypes, type Sequelize } from 'sequelize';
import { orderedId } from '../../crypto/id.ts';
import type { Migration } from './migration.ts';

const flag = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
const json = { type: DataTypes.JSON, allowNull: true };

/**
 * Adds the approval of connections by owners. Existing connections are approved. An event names
 * each, and the owners with a second factor, who are asked for it from now on (security I8).
 */
export const connectionApproval: Migration = {
  name: '0037-connection-approval',
  async up({ queryInterface: schema, sequelize }) {
    for (const kind of ['sso', 'ldap'] as const) {
      const table = `${kind}_connections`;
      await schema.addColumn(table, 'approved', flag);
      await schema.addColumn(table, 'last_approved', json);
      await schema.addColumn(table, 'changed_by', json);
      await schema.addColumn(table, 'off_by_owner', flag);
      await sequelize.query(`UPDATE ${table} SET approved = true`);
      await recordApproved(schema, sequelize, kind);
    }
  },
};

interface Connection {
  id: string;
  organizationId: string;
  name: string;
}

async function recordApproved(
  schema: QueryInterface,
  sequelize: Sequelize,
  kind: 'sso' | 'ldap',
): Promise<void> {
  const called = kind === 'sso' ? 'COALESCE(email_domain, issuer)' : 'uri';
  const connections = await sequelize.query<Connection>(
    `SELECT id, organization_id AS "organizationId", ${called} AS name
       FROM ${kind}_connections ORDER BY id`,
    { type: QueryTypes.SELECT },
  );
  for (const { id, organizationId, name } of connections) {
    // A directory has always asked for the second factor.
    const owners = kind === 'sso' ? await findAsked(sequelize, id, organizationId) : [];
    const event = {
      id: orderedId(),
      kind: `${kind}.approved`,
      at: new Date(),
      organization_id: organizationId,
      actor: JSON.stringify({ kind: 'system', name: 'migration' }),
      subject: JSON.stringify({ type: kind, id, name }),
      data: JSON.stringify({ owners }),
    };
    await schema.bulkInsert('events', [event]);
  }
}

/** The owners with a second factor whose accounts are linked through the connection. */
async function findAsked(sequelize: Sequelize, connectionId: string, organizationId: string) {
  const rows = await sequelize.query<{ called: string }>(
    `SELECT COALESCE(a.email, a.name) AS called
       FROM identities i
       JOIN accounts a ON a.id = i.account_id
       JOIN memberships m ON m.account_id = a.id AND m.organization_id = $2 AND m.role = 'owner'
      WHERE i.connection_id = $1 AND (a.totp_enabled_at IS NOT NULL OR a.has_passkey)
      ORDER BY a.id`,
    { type: QueryTypes.SELECT, bind: [connectionId, organizationId] },
  );
  return rows.map(({ called }) => called);
}
