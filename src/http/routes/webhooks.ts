import {
  listDeliveries,
  locateDelivery,
  retryDelivery,
} from '../../services/tenancy/webhooks/delivery/operations.ts';
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  locateWebhook,
  removeWebhook,
  rotateWebhook,
  testWebhook,
} from '../../services/tenancy/webhooks/operations.ts';
import { route } from '../route.ts';

const webhook = '/api/v1/orgs/:org/webhooks/:id';

/** The webhooks that receive an organization's events (Standard Webhooks). */
export const webhookRoutes = [
  route('GET', '/api/v1/orgs/:org/webhooks', listWebhooks, {
    summary: 'The webhooks, without their secrets',
    cli: 'webhook list',
  }),
  route('POST', '/api/v1/orgs/:org/webhooks', addWebhook, {
    summary: 'Add a webhook; its secret is shown only once. Without `events`, it gets all kinds',
    dryRun: true,
    status: 201,
    cli: 'webhook add',
  }),
  route('GET', webhook, locateWebhook, {
    summary: 'Whether the organization has this webhook',
    cli: 'webhook list',
  }),
  route('PATCH', webhook, changeWebhook, {
    summary: 'Switch a webhook on or off; with `events`, also choose its kinds of events',
    dryRun: true,
    cli: 'webhook enable',
  }),
  route('DELETE', webhook, removeWebhook, {
    summary: 'Remove a webhook and its waiting messages',
    cli: 'webhook remove',
  }),
  route('POST', `${webhook}/rotate`, rotateWebhook, {
    summary: 'Give a webhook a new secret; for 24 hours both secrets sign each message',
    dryRun: true,
    cli: 'webhook rotate',
  }),
  route('POST', `${webhook}/test`, testWebhook, {
    summary: 'Send a message of type webhook.test now, and return the result',
    cli: 'webhook test',
  }),
  route('GET', `${webhook}/deliveries`, listDeliveries, {
    summary: 'The deliveries: sent, waiting or dead, newest first',
    cli: 'webhook deliveries',
  }),
  route('GET', '/api/v1/orgs/:org/webhook-deliveries/:delivery', locateDelivery, {
    summary: 'The webhook that a delivery belongs to',
    cli: 'webhook retry',
  }),
  route('POST', `${webhook}/deliveries/:delivery/retry`, retryDelivery, {
    summary: 'Send a delivery again, with the same id; its status does not matter',
    cli: 'webhook retry',
  }),
];
