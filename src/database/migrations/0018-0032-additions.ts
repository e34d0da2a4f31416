import { DataTypes, Op, QueryTypes } from 'sequelize';
import type { Migration } from './migration.ts';

// The small migrations 0018 to 0032, in order. They add columns and indexes, or change rows; one
// adds the table `daemons`.

/** Adds the time at which a restore of a backup suspended a token or an app. */
export const suspensions: Migration = {
  name: '0018-suspensions',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps', 'scim_tokens']) {
      await schema.addColumn(table, 'suspended_at', { type: DataTypes.DATE, allowNull: true });
    }
  },
};

/**
 * Adds the time at which a sign-up last replaced an account with an unverified address, and an
 * index of unverified accounts.
 */
export const replacedSignUps: Migration = {
  name: '0019-replaced-sign-ups',
  async up({ queryInterface: schema }) {
    const instant = { type: DataTypes.DATE, allowNull: true };
    await schema.addColumn('accounts', 'sign_up_replaced_at', instant);
    const where = { email_proof: 'none' };
    await schema.addIndex('accounts', ['id'], { name: 'accounts_unproved', where });
  },
};

/**
 * Adds the scope of a token, and the time at which a session passed the account's own second
 * factor, checked by idctl.
 */
export const addTokenScopes: Migration = {
  name: '0020-token-scopes',
  async up({ queryInterface: schema }) {
    const scope = { type: DataTypes.TEXT, allowNull: false, defaultValue: 'write' };
    await schema.addColumn('access_tokens', 'scope', scope);
    await schema.addColumn('sessions', 'second_factor_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
  },
};

/** The host that an LDAP key came from, and an index to find the keys of removed connections. */
export const formerKeys: Migration = {
  name: '0021-former-keys',
  async up({ queryInterface: schema, sequelize }) {
    await schema.addColumn('identities', 'server', { type: DataTypes.TEXT, allowNull: true });
    await schema.addIndex('identities', ['organization_id', 'subject'], {
      name: 'identities_organization_subject',
    });
    const directories = await sequelize.query<{ id: string; uri: string }>(
      'SELECT id, uri FROM ldap_connections',
      { type: QueryTypes.SELECT },
    );
    for (const { id, uri } of directories) {
      await sequelize.query('UPDATE identities SET server = $1 WHERE connection_id = $2', {
        bind: [new URL(uri).hostname, id],
      });
    }
  },
};

const administered = `FROM memberships m
  WHERE m.account_id = apps.account_id AND m.role IN ('admin', 'owner')`;

/**
 * The organization whose members' tokens an app may introspect. An existing app gets the
 * organization that its owner administers, if there is exactly one.
 */
export const appOrganizations: Migration = {
  name: '0022-app-organizations',
  async up({ queryInterface: schema, sequelize }) {
    await schema.addColumn('apps', 'organization_id', {
      type: DataTypes.UUID,
      allowNull: true,
      references: { model: 'organizations', key: 'id' },
      onDelete: 'SET NULL',
    });
    await schema.addIndex('apps', ['organization_id'], { name: 'apps_organization_id' });
    await sequelize.query(
      `UPDATE apps SET organization_id = (SELECT m.organization_id ${administered})
        WHERE (SELECT COUNT(*) ${administered}) = 1`,
    );
  },
};

/**
 * Adds whether an account waits for the code mailed to it. An unverified account with a password
 * came from a sign-up, unless provisioning made it: then the operator set the password.
 */
export const waitingSignUps: Migration = {
  name: '0024-waiting-sign-ups',
  async up({ queryInterface: schema, sequelize }) {
    const flag = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
    await schema.addColumn('accounts', 'awaits_code', flag);
    await sequelize.query(
      `UPDATE accounts SET awaits_code = true
        WHERE email_proof = 'none' AND password_hash IS NOT NULL
          AND (sign_up_replaced_at IS NOT NULL OR NOT EXISTS
            (SELECT 1 FROM scim_records WHERE account_id = accounts.id AND link = 'created'))`,
    );
  },
};

const inSqlite = `UPDATE webhook_deliveries SET body = json_set(body, '$.data.actor.name', 'operator')
  WHERE json_extract(body, '$.data.actor.kind') = 'operator'`;
const inPostgres = `UPDATE webhook_deliveries
  SET body = jsonb_set(body::jsonb, '{data,actor,name}', '"operator"')::text
  WHERE body::jsonb #>> '{data,actor,kind}' = 'operator'`;

/**
 * Renames the operator to `operator` in stored deliveries: they may still be sent, and
 * organizations read them (security X9).
 */
export const operatorInDeliveries: Migration = {
  name: '0025-operator-in-deliveries',
  async up({ sequelize, dialect }) {
    await sequelize.query(dialect === 'sqlite' ? inSqlite : inPostgres);
  },
};

/** The reference of a sign-in attempt, shown to a refused person. Earlier attempts have none. */
export const attemptReferences: Migration = {
  name: '0028-attempt-references',
  async up({ queryInterface: schema }) {
    await schema.addColumn('sso_attempts', 'reference', { type: DataTypes.TEXT, allowNull: true });
  },
};

/** The running daemons, each with a digest of the configuration file it has read. */
export const daemons: Migration = {
  name: '0029-daemons',
  async up({ queryInterface: schema }) {
    await schema.createTable('daemons', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      host: { type: DataTypes.TEXT, allowNull: false },
      listen: { type: DataTypes.TEXT, allowNull: false },
      config_file: { type: DataTypes.TEXT, allowNull: false },
      config_digest: { type: DataTypes.TEXT, allowNull: false },
      seen_at: { type: DataTypes.DATE, allowNull: false },
    });
  },
};

/**
 * The organization whose provider alone authenticated the maker of a token or an app. Unknown for
 * existing rows.
 */
export const vouchedTokens: Migration = {
  name: '0030-vouched-tokens',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps']) {
      await schema.addColumn(table, 'vouched_by', { type: DataTypes.UUID, allowNull: true });
    }
  },
};

/** An index of accounts with a sealed secret, so that re-sealing does not read every account. */
export const sealedAccounts: Migration = {
  name: '0031-sealed-accounts',
  async up({ queryInterface: schema }) {
    const where = { totp_secret: { [Op.ne]: null } };
    await schema.addIndex('accounts', ['id'], { name: 'accounts_sealed', where });
  },
};

/**
 * Narrower indexes. `accounts_unproved` omits accounts without a password, such as those that
 * provisioning makes. `accounts_sealed` sorts by the key that sealed the secret.
 */
export const narrowIndexes: Migration = {
  name: '0032-narrow-indexes',
  async up({ queryInterface: schema, sequelize }) {
    await schema.removeIndex('accounts', 'accounts_unproved');
    await schema.addIndex('accounts', ['id'], {
      name: 'accounts_unproved',
      where: { email_proof: 'none', password_hash: { [Op.ne]: null } },
    });
    await schema.removeIndex('accounts', 'accounts_sealed');
    await schema.addIndex('accounts', {
      name: 'accounts_sealed',
      fields: [
        { name: 'totp_secret', collate: sequelize.getDialect() === 'sqlite' ? 'BINARY' : 'C' },
      ],
      where: { totp_secret: { [Op.ne]: null } },
    });
  },
};
