import { column, rowOf } from './columns.ts';

/** A URL that receives an organization's events (interface page, webhooks). */
export class Webhook extends rowOf(
  'webhooks',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    url: column.string(),
    /** Null means every kind. */
    events: column.optional(column.json<string[]>()),
    /** Sealed. */
    secret: column.string(),
    /** Sealed. It also signs until `previousUntil`. */
    previousSecret: column.optional(column.string()),
    previousUntil: column.optional(column.date()),
    enabled: column.flag(),
    /** Since when deliveries have only failed. */
    failingSince: column.optional(column.date()),
    /** No delivery before this time, because the receiver did not answer. */
    pausedUntil: column.optional(column.date()),
    /** The daemon's lease to deliver to it, and when the lease ends. */
    leaseId: column.optional(column.uuid()),
    leasedUntil: column.optional(column.date()),
    createdAt: column.date(),
  },
  () => [column.index('webhooks_organization_id', ['organization_id', 'id'])],
) {}
