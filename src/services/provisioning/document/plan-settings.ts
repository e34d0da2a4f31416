import { settingNames } from '../../tenancy/signin-settings/governing.ts';
import { differences, dropSurplus, type PlanDraft } from './changes.ts';
import { planConnections } from './plan-connections.ts';
import type { PlanInput } from './wanted.ts';

/** Plans the name, domains, connections, sign-in settings and webhooks of the organization. */
export function planSettings(draft: PlanDraft, wanted: PlanInput): void {
  planOrganization(draft, wanted);
  planDomains(draft, wanted);
  planConnections(draft, wanted);
  planSignIn(draft, wanted);
  planWebhooks(draft, wanted);
}

function planOrganization(draft: PlanDraft, { state, document }: PlanInput): void {
  const { slug, name: from } = state.organization;
  const to = document.organization?.name;
  if (to === undefined || to === from) return;
  draft.changes.push({
    section: 'organization',
    action: 'change',
    key: slug,
    fields: [{ field: 'name', from, to }],
  });
  draft.steps.rename = to;
}

function planDomains(draft: PlanDraft, { state, document: { domains }, prune }: PlanInput): void {
  if (domains === undefined) return;
  const there = new Set(state.domains.map(({ name }) => name));
  const listed = new Set(domains.map(({ domain }) => domain));
  for (const name of listed) {
    if (there.has(name)) continue;
    draft.changes.push({ section: 'domains', action: 'add', key: name });
    draft.steps.addDomains.push(name);
  }
  const surplus = state.domains.filter(({ name }) => !listed.has(name));
  const dropped = dropSurplus(draft, 'domains', surplus, {
    prune,
    keyOf: ({ name }) => name,
    fieldsOf: ({ state }) => [{ field: 'state', from: state, to: null }],
  });
  draft.steps.removeDomains = dropped.map(({ name }) => name);
}

function planSignIn(draft: PlanDraft, { state, document: { signin } }: PlanInput): void {
  if (signin === undefined) return;
  const all = (choices: Record<string, boolean | undefined>) =>
    Object.fromEntries(settingNames.map((name) => [name, choices[name] ?? null]));
  const fields = differences(all(state.signin), all(signin));
  if (fields.length === 0) return;
  draft.changes.push({ section: 'signin', action: 'change', key: 'signin', fields });
  draft.steps.signin = Object.fromEntries(
    settingNames.flatMap((name) => (signin[name] === undefined ? [] : [[name, signin[name]]])),
  );
}

function planWebhooks(draft: PlanDraft, { state, document: { webhooks }, prune }: PlanInput): void {
  if (webhooks === undefined) return;
  const first = new Map(state.webhooks.toReversed().map((webhook) => [webhook.url, webhook]));
  const known = new Set<string>();
  for (const { url, events: said, enabled } of webhooks) {
    const events = kindsIn(said);
    const stored = first.get(url);
    if (stored === undefined) {
      const fields = differences({}, { events, enabled });
      draft.changes.push({ section: 'webhooks', action: 'add', key: url, fields });
      draft.steps.addWebhooks.push({ url, events, enabled });
      continue;
    }
    known.add(stored.id);
    const before = { events: kindsIn(stored.events), enabled: stored.enabled };
    const fields = differences(before, { events, enabled });
    if (fields.length === 0) continue;
    draft.changes.push({ section: 'webhooks', action: 'change', key: url, fields });
    const kinds = fields.some(({ field }) => field === 'events') ? { events } : {};
    draft.steps.changeWebhooks.push({ id: stored.id, enabled, ...kinds });
  }
  const surplus = state.webhooks.filter(({ id }) => !known.has(id));
  draft.steps.removeWebhooks = dropSurplus(draft, 'webhooks', surplus, {
    prune,
    keyOf: ({ url }) => url,
  });
}

/** The event kinds, sorted. If `*` is among them, only `*`, because it means all kinds. */
function kindsIn(events: string[]): string[] {
  return events.includes('*') ? ['*'] : [...new Set(events)].toSorted();
}
