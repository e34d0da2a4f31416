import { requireSameServer } from '../../tenancy/ldap/connection.ts';
import { settingNames } from '../../tenancy/signin-settings/governing.ts';
import { requireSameClient } from '../../tenancy/sso/connection.ts';
import { type Blocked, differences, dropSurplus, type Field, type PlanDraft } from './changes.ts';
import { spare, type WantedLdap, type WantedSso } from './schema.ts';
import type { PlanInput } from './wanted.ts';

/** Plans the name, domains, connections, sign-in settings and webhooks of the organization. */
export function planSettings(draft: PlanDraft, wanted: PlanInput): void {
  planOrganization(draft, wanted);
  planDomains(draft, wanted);
  planSso(draft, wanted);
  planLdap(draft, wanted);
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

function planSso(draft: PlanDraft, wanted: PlanInput): void {
  const given = wanted.document.sso;
  if (given === undefined) planLostDomain(draft, wanted);
  else if (given === null) planNone(draft, wanted, 'sso');
  else planGivenSso(draft, wanted, given);
}

function planGivenSso(draft: PlanDraft, wanted: PlanInput, given: WantedSso): void {
  const { state, secrets, outside } = wanted;
  const { sso: stored } = state;
  if (outside.taken.has(given.emailDomain)) {
    draft.blocked.push({
      section: 'sso',
      key: 'sso',
      code: 'domain_taken',
      message: `${given.emailDomain} is verified by another organization.`,
      hint: 'Use another domain, or ask that organization to remove this one.',
    });
    return;
  }
  if (stored === null && secrets.sso === null)
    draft.faults.push({ path: 'sso.clientSecret', message: needed });
  if (stored !== null && secrets.sso === null) requireSameClient(stored, given);
  const trusted = outside.trusting || verifiedAfter(draft, wanted).has(given.emailDomain);
  if (given.enabled && !trusted) draft.blocked.push(unverified(wanted, 'sso', given.emailDomain));
  const { clientSecret, ...settings } = given;
  const effective = { ...settings, enabled: given.enabled && trusted };
  if (!planConnection(draft, 'sso', { stored, effective, secret: secrets.sso })) return;
  draft.steps.sso = { save: { ...effective, clientSecret } };
}

function planLdap(draft: PlanDraft, wanted: PlanInput): void {
  const given = wanted.document.ldap;
  if (given === null) planNone(draft, wanted, 'ldap');
  else if (given !== undefined) planGivenLdap(draft, wanted, given);
}

function planGivenLdap(draft: PlanDraft, wanted: PlanInput, given: WantedLdap): void {
  const { state, secrets, outside } = wanted;
  const { ldap: stored } = state;
  if (stored === null && secrets.ldap === null)
    draft.faults.push({ path: 'ldap.bindPassword', message: needed });
  if (stored !== null && secrets.ldap === null) requireSameServer(stored, given);
  const trusted = outside.trusting || verifiedAfter(draft, wanted).size > 0;
  if (given.enabled && !trusted) draft.blocked.push(unverified(wanted, 'ldap', null));
  const { bindPassword, ...settings } = given;
  const effective = { ...settings, enabled: given.enabled && trusted };
  if (!planConnection(draft, 'ldap', { stored, effective, secret: secrets.ldap })) return;
  draft.steps.ldap = { save: { ...effective, bindPassword } };
}

const needed = 'is required: no secret is stored yet';

/** Plans the change of a connection. Returns whether anything changes. */
function planConnection(
  draft: PlanDraft,
  section: 'sso' | 'ldap',
  {
    stored,
    effective,
    secret,
  }: {
    stored: object | null;
    effective: Record<string, unknown>;
    secret: PlanInput['secrets']['sso'];
  },
): boolean {
  const settings: Field[] =
    stored === null
      ? differences({}, spare(section, effective))
      : differences({ ...stored }, effective);
  const field = section === 'sso' ? 'clientSecret' : 'bindPassword';
  // A withheld secret counts as given: a new connection gets it.
  const isNew = secret === 'different' || (stored === null && secret === 'withheld');
  const changed: Field[] = isNew ? [{ field, changed: true }] : [];
  const fields = [...settings, ...changed];
  if (stored !== null && fields.length === 0) return false;
  draft.changes.push({
    section,
    action: stored === null ? 'add' : 'change',
    key: section,
    fields,
  });
  return true;
}

function planNone(draft: PlanDraft, { state, prune }: PlanInput, section: 'sso' | 'ldap'): void {
  const stored = state[section];
  const surplus = stored === null ? [] : [section];
  const dropped = dropSurplus(draft, section, surplus, { prune, keyOf: (key) => key });
  if (dropped.length > 0) draft.steps[section] = 'remove';
}

/** Plans that single sign-on is disabled, if the plan removes the verified domain that it needs. */
function planLostDomain(draft: PlanDraft, { state: { sso, domains }, outside }: PlanInput): void {
  if (sso === null || !sso.enabled || sso.emailDomain === undefined || outside.trusting) return;
  const lost = domains.some(({ name, state }) => name === sso.emailDomain && state === 'Verified');
  if (!lost || !draft.steps.removeDomains.includes(sso.emailDomain)) return;
  const fields = [{ field: 'enabled', from: true, to: false }];
  draft.changes.push({ section: 'sso', action: 'change', key: 'sso', fields });
}

/** The domains that are verified once the plan is applied. */
function verifiedAfter(draft: PlanDraft, { state }: PlanInput): Set<string> {
  const removed = new Set(draft.steps.removeDomains);
  const left = state.domains.filter(
    ({ name, state }) => state === 'Verified' && !removed.has(name),
  );
  return new Set(left.map(({ name }) => name));
}

function unverified(
  { state: { organization } }: PlanInput,
  section: 'sso' | 'ldap',
  domain: string | null,
): Blocked {
  const whole = domain === null ? 'any domain' : domain;
  const { slug: org } = organization;
  return {
    section,
    key: section,
    code: 'domain_unverified',
    message: `${organization.slug} has not verified ${whole} yet. The connection is disabled until it does.`,
    hint: [
      'Publish the TXT record of the domain. Then apply again, which also verifies the domain.',
      { to: 'see the record', operation: 'domain.list', with: { org } },
      {
        to: 'verify the domain alone',
        operation: 'domain.verify',
        with: { domain: domain ?? undefined, org },
      },
    ],
  };
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
