import { addWebhook } from '../../services/tenancy/webhooks/add.ts';
import { changeWebhook } from '../../services/tenancy/webhooks/change.ts';
import { listDeliveries } from '../../services/tenancy/webhooks/delivery/list.ts';
import { retryDelivery } from '../../services/tenancy/webhooks/delivery/retry.ts';
import { listWebhooks } from '../../services/tenancy/webhooks/list.ts';
import { removeWebhook } from '../../services/tenancy/webhooks/remove.ts';
import { rotateWebhook } from '../../services/tenancy/webhooks/rotate.ts';
import {
  addWebhookInput,
  changeWebhookInput,
  deliveryPage,
  deliveryView,
  listDeliveriesInput,
  listWebhooksInput,
  newWebhookView,
  retryDeliveryInput,
  rotatedWebhookView,
  webhookPage,
  webhookRefInput,
  webhookTestView,
  webhookView,
} from '../../services/tenancy/webhooks/schema.ts';
import { testWebhook } from '../../services/tenancy/webhooks/test.ts';
import { route } from '../route.ts';

const webhook = '/api/v1/orgs/:org/webhooks/:id';

/** Where an organization's events are sent (Standard Webhooks). */
export const webhookRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/webhooks',
    summary: 'The webhooks, without their secrets',
    access: 'webhooks.see',
    input: listWebhooksInput,
    output: webhookPage,
    cli: 'webhook list',
    run: listWebhooks,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/webhooks',
    summary: 'Add a webhook; its secret is shown once. Without events: all of them',
    access: 'webhooks.change',
    input: addWebhookInput,
    output: newWebhookView,
    status: 201,
    cli: 'webhook add',
    run: addWebhook,
  }),
  route({
    method: 'PATCH',
    path: webhook,
    summary: 'Switch a webhook on or off',
    access: 'webhooks.change',
    input: changeWebhookInput,
    output: webhookView,
    cli: 'webhook enable',
    run: changeWebhook,
  }),
  route({
    method: 'DELETE',
    path: webhook,
    summary: 'Remove a webhook with what waits for it',
    access: 'webhooks.change',
    input: webhookRefInput,
    cli: 'webhook remove',
    run: removeWebhook,
  }),
  route({
    method: 'POST',
    path: `${webhook}/rotate`,
    summary: 'Give a webhook a new secret; for 24 hours the old one signs too',
    access: 'webhooks.change',
    input: webhookRefInput,
    output: rotatedWebhookView,
    cli: 'webhook rotate',
    run: rotateWebhook,
  }),
  route({
    method: 'POST',
    path: `${webhook}/test`,
    summary: 'Send a message of type webhook.test now, and say what came of it',
    access: 'webhooks.change',
    input: webhookRefInput,
    output: webhookTestView,
    cli: 'webhook test',
    run: testWebhook,
  }),
  route({
    method: 'GET',
    path: `${webhook}/deliveries`,
    summary: 'What was, is to be or could not be delivered, newest first',
    access: 'webhooks.see',
    input: listDeliveriesInput,
    output: deliveryPage,
    cli: 'webhook deliveries',
    run: listDeliveries,
  }),
  route({
    method: 'POST',
    path: `${webhook}/deliveries/:delivery/retry`,
    summary: 'Send a delivery again, whatever became of it, with the same id',
    access: 'webhooks.change',
    input: retryDeliveryInput,
    output: deliveryView,
    cli: 'webhook retry',
    run: retryDelivery,
  }),
];
