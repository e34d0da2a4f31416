import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A URL that receives an organization's events (interface page, webhooks). */
export class Webhook extends Row<Webhook> {
  declare id: string;
  declare organizationId: string;
  declare url: string;
  /** Null for all kinds. */
  declare events: string[] | null;
  /** Sealed. */
  declare secret: string;
  /** Sealed. Until `previousUntil`, it signs too. */
  declare previousSecret: CreationOptional<string | null>;
  declare previousUntil: CreationOptional<Date | null>;
  declare enabled: boolean;
  /** The time since which all deliveries have failed. */
  declare failingSince: CreationOptional<Date | null>;
  /** Nothing is delivered before this time, because the receiver seems to be unavailable. */
  declare pausedUntil: CreationOptional<Date | null>;
  /** The lease of the daemon that delivers to this webhook, and the end of the lease. */
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
