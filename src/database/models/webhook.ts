import { column, rowOf } from './columns.ts';

/** A URL that receives an organization's events (interface page, webhooks). */
export class Webhook extends rowOf(
  'webhooks',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    url: column.string(),
    /** Null for all kinds. */
    events: column.optional(column.json<string[]>()),
    /** Sealed. */
    secret: column.string(),
    /** Sealed. Until `previousUntil`, it signs too. */
    previousSecret: column.optional(column.string()),
    previousUntil: column.optional(column.date()),
    enabled: column.flag(),
    /** When deliveries began to fail. Null after a success. */
    failingSince: column.optional(column.date()),
    /** Nothing is delivered before this time, because the receiver seems to be unavailable. */
    pausedUntil: column.optional(column.date()),
    /** The lease of the daemon that delivers to this webhook, and the end of the lease. */
    leaseId: column.optional(column.uuid()),
    leasedUntil: column.optional(column.date()),
    createdAt: column.date(),
  },
  () => [column.index('webhooks_organization_id', ['organization_id', 'id'])],
) {}
