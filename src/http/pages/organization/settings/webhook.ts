import { parse } from '../../../../input.ts';
import {
  listDeliveries,
  retryDelivery,
} from '../../../../services/tenancy/webhooks/delivery/operations.ts';
import {
  changeWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  testWebhook,
} from '../../../../services/tenancy/webhooks/operations.ts';
import { minuteText } from '../../../../text/dates.ts';
import { counted } from '../../../../text/words.ts';
import { endingPages } from '../../ending.ts';
import { type Html, html } from '../../html.ts';
import { operationForm, type Page, type ShownPage, type Visit, viewPage } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { badge, button, endingLink, pageLinks, rows } from '../../rows.ts';
import { shownOnce } from '../../shown-once.ts';
import { goTo, sheet } from '../sheet.ts';
import { eventsField } from './overview.ts';
import { path as settings, pathOf as settingsOf } from './path.ts';

const path = `${settings}/webhooks/:id`;
const pathOf = (key: { org: string; id: string }) => `${settingsOf(key)}/webhooks/${key.id}`;

type Deliveries = Awaited<ReturnType<typeof listDeliveries>>;
type Tested = Awaited<ReturnType<typeof testWebhook>>;
type Webhook = Awaited<ReturnType<typeof listWebhooks>>['items'][number];

/** The pages of one webhook. */
export const webhookPages: Page[] = [
  viewPage(path, listDeliveries, (visit, deliveries) => showWebhook(visit, { deliveries })),
  operationForm(path, changeWebhook, {
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'webhook-saved'),
    refused: (visit) => showWebhook(visit),
  }),
  operationForm(`${path}/test`, testWebhook, {
    reply: (visit, tested) => showWebhook(visit, { tested }),
    refused: (visit) => showWebhook(visit),
  }),
  operationForm(`${path}/rotate`, rotateWebhook, {
    reply: (_visit, { url, secret }, key) =>
      shownOnce('The new secret of the webhook', { of: url, secret, back: pathOf(key) }),
    refused: (visit) => showWebhook(visit),
  }),
  operationForm(`${path}/deliveries/:delivery/retry`, retryDelivery, {
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'retried'),
    refused: (visit) => showWebhook(visit),
  }),
  ...endingPages(`${path}/remove`, removeWebhook, {
    act: 'Remove webhook',
    back: path,
    reply: (visit, _view, key) => goTo(visit, settingsOf(key), 'webhook-removed'),
  }),
];

async function showWebhook(
  visit: Visit,
  { deliveries, tested }: { deliveries?: Deliveries; tested?: Tested } = {},
): Promise<ShownPage> {
  const { ctx, given } = visit;
  const key = parse(listDeliveries.input, { org: given['org'], id: given['id'] });
  const { items, nextCursor } = deliveries ?? (await listDeliveries(ctx, key));
  const all = await listWebhooks(ctx, { org: key.org, limit: 200 });
  const webhook = all.items.find(({ id }) => id === key.id);
  const at = pathOf(key);
  return sheet(
    visit,
    'Webhook',
    html`${tested && testSection(tested)}
${webhook && html`${stateSection(visit, at, webhook)}${eventsSection(visit, at, webhook)}`}
<section aria-labelledby="deliveries"><h2 id="deliveries">Last messages</h2>
${rows(
  items.map((delivery) => deliveryRow(visit, at, delivery)),
  'No message has been sent.',
)}</section>
${pageLinks(at, {}, { nextCursor, previousCursor: null })}
<p><a href="${settingsOf(key)}">All settings</a></p>`,
  );
}

function testSection({ ok, message }: Tested): Html {
  return html`<section aria-labelledby="tested"><h2 id="tested">Test</h2>
<p>${badge(ok ? 'ok' : 'failed')} ${message}</p></section>`;
}

function stateSection(visit: Visit, at: string, { url, enabled, failingSince }: Webhook): Html {
  const shown = {
    name: url,
    mark: badge(enabled ? 'on' : 'off'),
    facts: [
      failingSince !== null && `No message has been accepted since ${minuteText(failingSince)}.`,
      !enabled && 'What happens now is not sent later.',
      'With a new secret, the old one also signs for 24 hours.',
    ],
  };
  const toggle = button(visit, at, enabled ? 'Switch off' : 'Switch on', {
    enabled: String(!enabled),
  });
  return html`<section aria-labelledby="state"><h2 id="state">Address</h2>
${rows([shown])}
<div class="buttons">${button(visit, `${at}/test`, 'Test')}${toggle}${button(visit, `${at}/rotate`, 'New secret')}${endingLink(`${at}/remove`, 'Remove')}</div></section>`;
}

function eventsSection(visit: Visit, at: string, { events, enabled }: Webhook): Html {
  const content = html`${eventsField(visit, events)}<button type="submit">Save events</button>`;
  return html`<section aria-labelledby="events-title"><h2 id="events-title">Events</h2>
${postForm(visit, at, content, { enabled: String(enabled) })}</section>`;
}

const states: Record<Deliveries['items'][number]['status'], string> = {
  waiting: 'waiting',
  delivered: 'delivered',
  dead: 'given up',
};

function deliveryRow(visit: Visit, at: string, delivery: Deliveries['items'][number]) {
  const { id, event, at: when, status, attempts, nextAt, responseStatus, error } = delivery;
  const answer = responseStatus === null ? error : `The answer was ${responseStatus}.`;
  return {
    name: event,
    mark: badge(states[status]),
    text: status === 'delivered' ? null : answer,
    facts: [
      `${minuteText(when)} · ${counted(attempts, 'attempt')}`,
      nextAt !== null && `Next attempt ${minuteText(nextAt)}`,
    ],
    action: button(visit, `${at}/deliveries/${id}/retry`, 'Send again'),
  };
}
