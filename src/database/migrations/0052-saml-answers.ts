import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The verified answers of SAML providers, which the browser has not brought back yet. */
export const samlAnswers: Migration = {
  name: '0052-saml-answers',
  async up({ queryInterface: schema }) {
    await schema.createTable('saml_answers', {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      connection_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'sso_connections', key: 'id' },
        onDelete: 'CASCADE',
      },
      payload: { type: DataTypes.JSON, allowNull: false },
      expires_at: { type: DataTypes.DATE, allowNull: false },
    });
    const named = (name: string) => ({ name: `saml_answers_${name}` });
    await schema.addIndex('saml_answers', ['connection_id'], named('connection_id'));
    await schema.addIndex('saml_answers', ['expires_at'], named('expires_at'));
  },
};
