import type { Command } from 'commander';
import type { z } from 'zod';
import type { deliveryView } from '../../services/tenancy/webhooks/delivery/operations.ts';
import type {
  newWebhookView,
  rotatedWebhookView,
  webhookRemovedView,
  webhookTestView,
  webhookView,
} from '../../services/tenancy/webhooks/webhook.ts';
import { webhookWords } from '../../services/tenancy/webhooks/words.ts';
import { counted } from '../../text/words.ts';
import { noun, org, verb } from '../command.ts';
import { type Hiding, make, performSecret } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';
import { fieldsOf, optionsOf } from '../settings.ts';
import { failedResult } from '../steps.ts';

const operations = () => import('../../services/tenancy/webhooks/operations.ts');
const deliveryOperations = () => import('../../services/tenancy/webhooks/delivery/operations.ts');

type Webhook = z.output<typeof webhookView>;

const row: Fields<Webhook> = [
  [webhookWords.url.label, (view) => view.url, 'whole'],
  [webhookWords.events.label, (view) => view.events],
  [webhookWords.enabled.label, (view) => view.enabled],
  ['Failing since', (view) => view.failingSince],
  ['ID', (view) => view.id, 'whole'],
];

const block: Fields<Webhook> = [
  ['ID', (view) => view.id],
  ...fieldsOf(webhookWords),
  ['Failing since', (view) => view.failingSince],
];

type New = Hiding<z.output<typeof newWebhookView>, 'secret'>;

const made: Fields<New> = [['Secret', (view) => view.secret], ...block];

const removed: Fields<z.output<typeof webhookRemovedView>> = [
  ...block,
  ['Waiting', (view) => view.waiting],
];

const rotated: Fields<Hiding<z.output<typeof rotatedWebhookView>, 'secret'>> = [
  ['Secret', (view) => view.secret],
  ['ID', (view) => view.id],
  ['URL', (view) => view.url],
  ['Old secret until', (view) => view.previousUntil],
];

type Delivery = z.output<typeof deliveryView>;

const delivery: Fields<Delivery> = [
  ['At', (view) => view.at],
  ['Event', (view) => view.event],
  ['Status', (view) => view.status],
  ['Answer', answerTo, 'whole'],
  ['ID', (view) => view.id, 'whole'],
];

function answerTo({ attempts, error, responseStatus, nextAt }: Delivery): string | null {
  if (attempts === 0) return null;
  const next = nextAt === null ? '' : `, next ${nextAt}`;
  return `${error ?? responseStatus ?? ''} (${counted(attempts, 'attempt')}${next})`;
}

const tested: Fields<z.output<typeof webhookTestView>> = [
  ['Delivered', (view) => view.ok],
  ['Answer', (view) => view.message],
];

const example = '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';

export function addWebhookCommands(program: Command): void {
  const webhook = noun(program, 'webhook', {
    summary: 'URLs that receive the events of an organization',
    example: 'idctl webhook list --org acme',
  });
  verb(webhook, 'add <url>', {
    summary: 'Send events to a URL; --quiet prints only the secret that signs them',
    detail: 'A dry run does not look up the host.',
    required: org,
    options: optionsOf(webhookWords),
    makes: true,
    example:
      "idctl webhook add https://crm.acme.com/hooks --org acme \\\n      --events 'scim.*,member.removed'",
    run: add,
  });
  verb(webhook, 'list', {
    summary: 'List the webhooks',
    required: org,
    example: 'idctl webhook list --org acme',
    run: async (call) =>
      call.list((await operations()).listWebhooks, row, 'There are no webhooks.'),
  });
  addSwitch(webhook, 'enable', 'Enable a webhook, even if it was disabled because it failed');
  addSwitch(webhook, 'disable', 'Disable a webhook; idctl does not keep new events for it');
  verb(webhook, 'rotate <id>', {
    summary: 'Create a new secret; for 24 hours both secrets sign each message',
    options: org,
    rehearsable: true,
    example: `idctl webhook rotate ${example}`,
    run: async (call) => {
      const { rotateWebhook } = await operations();
      const input = await located(call);
      await performSecret(call, rotateWebhook, { fields: rotated, secret: 'secret', input });
    },
  });
  verb(webhook, 'test <id>', {
    summary: 'Send a webhook.test message now; exit 1 if it is not accepted',
    options: org,
    example: `idctl webhook test ${example}`,
    run: test,
  });
  verb(webhook, 'remove <id>', {
    summary: 'Remove a webhook; its waiting events are not sent',
    options: org,
    destroys: true,
    example: `idctl webhook remove ${example} --yes`,
    run: async (call) => {
      const { removeWebhook } = await operations();
      await call.destroy(removeWebhook, {
        input: await located(call),
        fields: removed,
      });
    },
  });
  verb(webhook, 'deliveries <id>', {
    summary: 'List the deliveries to a webhook, newest first',
    options: { ...org, '--status <status>': 'only this status: waiting, delivered or dead' },
    example: `idctl webhook deliveries ${example} \\\n      --status dead`,
    run: async (call) => {
      const { listDeliveries } = await deliveryOperations();
      const { status } = call.input;
      const none =
        status === undefined ? 'There are no deliveries yet.' : `No delivery is ${status}.`;
      await call.list(listDeliveries, delivery, none, { ...(await located(call)), status });
    },
  });
  verb(webhook, 'retry <delivery>', {
    summary: 'Send a delivery again now, with the same id, whatever its status',
    options: org,
    example: `idctl webhook retry ${example}`,
    run: async (call) => {
      const { locateDelivery, retryDelivery } = await deliveryOperations();
      const at = await call.operate(locateDelivery);
      call.show(await call.operate(retryDelivery, at), delivery);
      call.note('The daemon sends it within a few seconds.');
    },
  });
}

async function add(call: Call): Promise<void> {
  const { addWebhook, listWebhooks } = await operations();
  const { events, ...input } = call.input;
  await make<New>(call, addWebhook, {
    input: typeof events === 'string' ? { ...input, events: kindsOf(events) } : input,
    fields: made,
    secret: 'secret',
    repeats: true,
    find: async ({ org, url }) => {
      const found = (await call.every(listWebhooks, { org })).find((one) => one.url === url);
      return found && { ...found, secret: null };
    },
    has: ({ events: kinds }) => ({ events: kinds }),
  });
}

/** Splits a list of kinds. If it contains `*`, the result is only `*`, which means all kinds. */
function kindsOf(list: string): string[] {
  const kinds = list.split(',');
  return kinds.includes('*') ? ['*'] : kinds;
}

async function test(call: Call): Promise<void> {
  const { testWebhook } = await operations();
  const view = await call.operate(testWebhook, await located(call));
  call.show(view, tested);
  if (!view.ok) throw failedResult();
}

function addSwitch(webhook: Command, name: 'enable' | 'disable', summary: string): void {
  verb(webhook, `${name} <id>`, {
    summary,
    options: org,
    rehearsable: true,
    example: `idctl webhook ${name} ${example}`,
    run: async (call) => {
      const { changeWebhook } = await operations();
      const given = { ...(await located(call)), enabled: name === 'enable' };
      await call.perform(changeWebhook, block, given);
    },
  });
}

/** The named webhook and its organization, which is looked up unless `--org` is given. */
async function located(call: Call) {
  const { id, org: given } = call.input;
  if (given !== undefined) return { id, org: given };
  const { locateWebhook } = await operations();
  return call.operate(locateWebhook, { id });
}
