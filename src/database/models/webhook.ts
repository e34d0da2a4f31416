import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A URL that receives an organization's events (interface page, webhooks). */
export class Webhook extends Row<Webhook> {
  declare id: string;
  declare organizationId: string;
  declare url: string;
  /** Null means every kind. */
  declare events: string[] | null;
  /** Sealed. */
  declare secret: string;
  /** Sealed. It also signs until `previousUntil`. */
  declare previousSecret: CreationOptional<string | null>;
  declare previousUntil: CreationOptional<Date | null>;
  declare enabled: boolean;
  /** Since when deliveries have only failed. */
  declare failingSince: CreationOptional<Date | null>;
  /** No delivery before this time, because the receiver did not answer. */
  declare pausedUntil: CreationOptional<Date | null>;
  /** The daemon's lease to deliver to it, and when the lease ends. */
  declare leaseId: CreationOptional<string | null>;
  declare leasedUntil: CreationOptional<Date | null>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initWebhook(sequelize: Sequelize): void {
  Webhook.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      url: column.string(),
      events: column.optional(column.json()),
      secret: column.string(),
      previousSecret: column.optional(column.string()),
      previousUntil: column.optional(column.date()),
      enabled: column.flag(),
      failingSince: column.optional(column.date()),
      pausedUntil: column.optional(column.date()),
      leaseId: column.optional(column.uuid()),
      leasedUntil: column.optional(column.date()),
      createdAt: column.date(),
    },
    table(sequelize, 'webhooks', [
      column.index('webhooks_organization_id', ['organization_id', 'id']),
    ]),
  );
}
