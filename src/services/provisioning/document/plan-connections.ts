import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import { spare } from '../../foundation/settings.ts';
import { requireSameServer } from '../../tenancy/ldap/connection.ts';
import { requireSameClient } from '../../tenancy/sso/connection.ts';
import { type Blocked, differences, dropSurplus, type Field, type PlanDraft } from './changes.ts';
import { connectionInputs } from './schema.ts';
import type { PlanInput } from './wanted.ts';

/** How the plan of one kind of connection differs from that of another. */
interface SectionRules<Wanted, Stored> {
  kind: ConnectionKindName;
  given: Wanted | null | undefined;
  stored: Stored | null;
  /** Refuses the stored secret if it was entered for another server (security S10). */
  requireSame: (stored: Stored, given: Wanted) => void;
  /** The domain that must be verified before the connection is enabled; null for any domain. */
  domainOf: (given: Wanted) => string | null;
  save: (save: Wanted) => void;
  /** Plans what other sections change, if the document has no section for this kind. */
  planAbsent?: () => void;
}

/** Plans the connections of the organization. */
export function planConnections(draft: PlanDraft, wanted: PlanInput): void {
  const { state, document } = wanted;
  planSection(draft, wanted, {
    kind: connectionKinds.sso.name,
    given: document.sso,
    stored: state.sso,
    requireSame: requireSameClient,
    domainOf: ({ emailDomain }) => emailDomain,
    save: (save) => {
      draft.steps.sso = { save };
    },
    planAbsent: () => planLostDomain(draft, wanted),
  });
  planSection(draft, wanted, {
    kind: connectionKinds.ldap.name,
    given: document.ldap,
    stored: state.ldap,
    requireSame: requireSameServer,
    domainOf: () => null,
    save: (save) => {
      draft.steps.ldap = { save };
    },
  });
}

function planSection<Wanted extends { enabled: boolean }, Stored extends object>(
  draft: PlanDraft,
  wanted: PlanInput,
  rules: SectionRules<Wanted, Stored>,
): void {
  const { kind, given, planAbsent } = rules;
  if (given === undefined) planAbsent?.();
  else if (given === null) planNone(draft, wanted, kind);
  else planGiven(draft, wanted, rules, given);
}

function planGiven<Wanted extends { enabled: boolean }, Stored extends object>(
  draft: PlanDraft,
  wanted: PlanInput,
  rules: SectionRules<Wanted, Stored>,
  given: Wanted,
): void {
  const { kind, stored } = rules;
  const { secrets, outside } = wanted;
  const domain = rules.domainOf(given);
  if (domain !== null && outside.taken.has(domain)) {
    draft.blocked.push(taken(kind, domain));
    return;
  }
  const { secret } = connectionKinds[kind];
  if (stored === null && secrets[kind] === null)
    draft.faults.push({
      path: `${kind}.${secret}`,
      message: 'is required: no secret is stored yet',
    });
  if (stored !== null && secrets[kind] === null) rules.requireSame(stored, given);
  const verified = verifiedAfter(draft, wanted);
  const isVerified = domain === null ? verified.size > 0 : verified.has(domain);
  const trusted = outside.trusting || isVerified;
  if (given.enabled && !trusted) draft.blocked.push(unverified(wanted, kind, domain));
  const save = { ...given, enabled: given.enabled && trusted };
  if (planConnection(draft, kind, { stored, save, secret: secrets[kind] })) rules.save(save);
}

function taken(section: ConnectionKindName, domain: string): Blocked {
  return {
    section,
    key: section,
    code: 'domain_taken',
    message: `${domain} is verified by another organization.`,
    hint: 'Use another domain, or ask that organization to remove this one.',
  };
}

/** Plans the change of a connection. Returns whether anything changes. */
function planConnection(
  draft: PlanDraft,
  section: ConnectionKindName,
  {
    stored,
    save,
    secret,
  }: {
    stored: object | null;
    save: Record<string, unknown>;
    secret: PlanInput['secrets'][ConnectionKindName];
  },
): boolean {
  const field = connectionKinds[section].secret;
  const { [field]: _, ...effective } = save;
  const settings: Field[] =
    stored === null
      ? differences({}, spare(connectionInputs[section].shape, effective))
      : differences({ ...stored }, effective);
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

function planNone(
  draft: PlanDraft,
  { state, prune }: PlanInput,
  section: ConnectionKindName,
): void {
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
  const section = connectionKinds.sso.name;
  draft.changes.push({ section, action: 'change', key: section, fields });
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
  section: ConnectionKindName,
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
