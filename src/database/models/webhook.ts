import type { CreationOptional, Sequelize } from 'sequelize';
import {
  flag,
  index,
  instantColumn,
  json,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  uuid,
} from './columns.ts';

/** Where an organization wants its events sent (interface page, webhooks). */
export class Webhook extends Row<Webhook> {
  declare id: string;
  declare organizationId: string;
  declare url: string;
  /** Null means every kind. */
  declare events: string[] | null;
  /** Sealed. */
  declare secret: string;
  /** Sealed; it signs too until `previousUntil`. */
  declare previousSecret: CreationOptional<string | null>;
  declare previousUntil: CreationOptional<Date | null>;
  declare enabled: boolean;
  /** Since when nothing has been delivered and something has failed. */
  declare failingSince: CreationOptional<Date | null>;
  /** Until then nothing is sent: it did not answer. */
  declare pausedUntil: CreationOptional<Date | null>;
  /** The turn of the daemon that delivers to it now, and until when that may be believed. */
  declare leaseId: CreationOptional<string | null>;
  declare leasedUntil: CreationOptional<Date | null>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initWebhook(sequelize: Sequelize): void {
  Webhook.init(
    {
      id: key(),
      organizationId: to('organizations'),
      url: textColumn(),
      events: optional(json()),
      secret: textColumn(),
      previousSecret: optional(textColumn()),
      previousUntil: optional(instantColumn()),
      enabled: flag(),
      failingSince: optional(instantColumn()),
      pausedUntil: optional(instantColumn()),
      leaseId: optional(uuid()),
      leasedUntil: optional(instantColumn()),
      createdAt: instantColumn(),
    },
    table(sequelize, 'webhooks', [index('webhooks_organization_id', ['organization_id', 'id'])]),
  );
}
