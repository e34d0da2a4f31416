import { z } from 'zod';
import { Webhook } from '../../../../database/models/webhook.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { caps } from '../../../foundation/limits/caps.ts';
import {
  changeWebhook,
  insertWebhook,
  removeWebhook,
} from '../../../tenancy/webhooks/operations.ts';
import { webhookSettings } from '../../../tenancy/webhooks/webhook.ts';
import { type Draft, differences, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { type Apply, by, listOf, type Read } from '../section.ts';

const webhook = z.strictObject(webhookSettings);
const input = listOf(webhook, (entry) => entry.url, 'The webhooks, by URL.').optional();

type Stored = Pick<Webhook, 'id' | 'url' | 'enabled'> & { events: string[] };

interface WebhooksState {
  webhooks: Stored[];
}

interface WebhooksSteps {
  webhooks: {
    add: Omit<Stored, 'id'>[];
    change: { id: string; enabled: boolean; events?: string[] }[];
    remove: Stored[];
  };
}

type WebhooksWanted = Wanted<WebhooksState, { webhooks?: z.output<typeof input> }>;

const read: Read<Stored[]> = async (_ctx, { id: organizationId }) => {
  const webhooks = await Webhook.findAll({ where: { organizationId }, order: ['id'] });
  return webhooks.map(({ id, url, events, enabled }) => {
    return { id, url, events: events ?? ['*'], enabled };
  });
};

function plan(draft: Draft, { state, document, prune }: WebhooksWanted): WebhooksSteps['webhooks'] {
  const steps: WebhooksSteps['webhooks'] = { add: [], change: [], remove: [] };
  if (document.webhooks === undefined) return steps;
  const first = firstOfUrl(state);
  const known = new Set<string>();
  for (const { url, events: said, enabled } of document.webhooks) {
    const events = kindsIn(said);
    const stored = first.get(url);
    if (stored === undefined) {
      const fields = differences({}, { events, enabled });
      draft.changes.push({ section: 'webhooks', action: 'add', key: url, fields });
      steps.add.push({ url, events, enabled });
      continue;
    }
    known.add(stored.id);
    const before = { events: kindsIn(stored.events), enabled: stored.enabled };
    const fields = differences(before, { events, enabled });
    if (fields.length === 0) continue;
    draft.changes.push({ section: 'webhooks', action: 'change', key: url, fields });
    const kinds = fields.some(({ field }) => field === 'events') ? { events } : {};
    steps.change.push({ id: stored.id, enabled, ...kinds });
  }
  const surplus = state.webhooks.filter(({ id }) => !known.has(id));
  steps.remove = dropSurplus(draft, 'webhooks', surplus, { prune, keyOf: ({ url }) => url });
  return steps;
}

/** The event kinds, sorted. If `*` is among them, only `*`, because it means all kinds. */
function kindsIn(events: string[]): string[] {
  return events.includes('*') ? ['*'] : [...new Set(events)].toSorted();
}

/** The first webhook of each URL, because a document identifies webhooks by URL. */
function firstOfUrl({ webhooks }: WebhooksState): Map<string, Stored> {
  return new Map(webhooks.toReversed().map((webhook) => [webhook.url, webhook]));
}

const apply: Apply<WebhooksSteps> = async (ctx, organization, { webhooks }) => {
  const { add, change, remove } = webhooks;
  const org = organization.id;
  if (add.length > 0) await requireAuthority(ctx, 'webhooks.change', org);
  // Removals first: the number of webhooks of an organization is limited.
  for (const { id } of remove) await removeWebhook(ctx, { org, id });
  for (const webhook of add) await insertWebhook(ctx, organization, webhook);
  for (const webhook of change) await changeWebhook(ctx, { org, ...webhook });
};

function view(state: WebhooksState) {
  return [...firstOfUrl(state).values()]
    .map(({ url, events, enabled }) => ({ url, events: events.toSorted(), enabled }))
    .toSorted(by(({ url }) => url));
}

/** The section with the webhooks. */
export const webhooks = {
  input,
  exported: z.array(
    z.object({ url: z.string(), events: z.array(z.string()), enabled: z.boolean() }),
  ),
  read,
  plan,
  apply,
  view,
  cap: {
    max: caps.webhooks.max,
    count: ({ webhooks }: WebhooksState) => webhooks.length,
    removesFirst: true,
  },
};
