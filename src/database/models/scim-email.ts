import type { Sequelize } from 'sequelize';
import { index, key, Row, table, text, to, uuid } from './columns.ts';

/** An address in the `emails` of a SCIM record, so that it can be looked up. */
export class ScimEmail extends Row<ScimEmail> {
  declare recordId: string;
  declare valueCanonical: string;
  declare organizationId: string;
}

/** Binds the model to the open database. */
export function initScimEmail(sequelize: Sequelize): void {
  ScimEmail.init(
    {
      recordId: key(to('scim_records')),
      valueCanonical: key(text()),
      organizationId: uuid(),
    },
    table(sequelize, 'scim_emails', [index('scim_emails_value', ['organization_id', 'value_canonical'])]),
  );
}
