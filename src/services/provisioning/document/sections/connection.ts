import type { z } from 'zod';
import { type ConnectionKindName, connectionKinds } from '../../../../connection-kinds.ts';
import { spare } from '../../../foundation/settings.ts';
import { type Blocked, type Draft, differences, dropSurplus, type Field } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import type { DomainsState, DomainsSteps } from './domains.ts';
import type { OrganizationState } from './organization.ts';

// What the sections of the connections share.

/** The settings to save, the removal of the connection, or null if nothing changes. */
export type ConnectionSteps<Given> = ConnectionSave<Given> | 'remove' | null;

export interface ConnectionSave<Given> {
  save: Given;
}

/** What a stored connection has beside its settings. */
export interface StoredConnection {
  id: string;
  /** The fingerprint of the secret. */
  secret: string;
}

/** How the plan of one kind of connection differs from that of another. */
interface SectionRules<Given, Stored> {
  kind: ConnectionKindName;
  /** The schemas of the settings, with their defaults. */
  shape: z.ZodRawShape;
  given: Given | null;
  stored: Stored | null;
  /**
   * Refuses the stored secret if it was entered for another server (security S10). Null for a
   * connection without a secret.
   */
  requireSame: ((stored: Stored, given: Given) => void) | null;
  /** The changes besides those of settings and secret. */
  further?: Field[];
  /** The domain that must be verified before the connection is enabled; null for any domain. */
  domainOf: (given: Given) => string | null;
}

type ConnectionWanted = Wanted<OrganizationState & DomainsState, unknown>;

/** Plans a connection that the document has, or names as absent. */
export function planConnection<Given extends { enabled: boolean }, Stored extends object>(
  draft: Draft<DomainsSteps>,
  wanted: ConnectionWanted,
  rules: SectionRules<Given, Stored>,
): ConnectionSteps<Given> {
  const { kind, given, stored } = rules;
  if (given !== null) return planGiven(draft, wanted, rules, given);
  const surplus = stored === null ? [] : [kind];
  const { prune } = wanted;
  const dropped = dropSurplus(draft, kind, surplus, { prune, keyOf: (key) => key });
  return dropped.length > 0 ? 'remove' : null;
}

function planGiven<Given extends { enabled: boolean }, Stored extends object>(
  draft: Draft<DomainsSteps>,
  wanted: ConnectionWanted,
  rules: SectionRules<Given, Stored>,
  given: Given,
): ConnectionSteps<Given> {
  const { kind, stored } = rules;
  const { secrets, outside } = wanted;
  const domain = rules.domainOf(given);
  if (domain !== null && outside.taken.has(domain)) {
    draft.blocked.push(taken(kind, domain));
    return null;
  }
  const { secret } = connectionKinds[kind];
  if (rules.requireSame !== null && secrets[kind] === null) {
    if (stored !== null) rules.requireSame(stored, given);
    else
      draft.faults.push({
        path: `${kind}.${secret}`,
        message: 'is required: no secret is stored yet',
      });
  }
  const verified = verifiedAfter(draft, wanted);
  const isVerified = domain === null ? verified.size > 0 : verified.has(domain);
  const trusted = outside.trusting || isVerified;
  if (given.enabled && !trusted) draft.blocked.push(unverified(wanted, kind, domain));
  const save = { ...given, enabled: given.enabled && trusted };
  return planChange(draft, wanted, rules, save) ? { save } : null;
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
function planChange(
  draft: Draft,
  { secrets }: ConnectionWanted,
  {
    kind,
    shape,
    stored,
    further = [],
  }: Pick<SectionRules<unknown, object>, 'kind' | 'shape' | 'stored' | 'further'>,
  save: Record<string, unknown>,
): boolean {
  const field = connectionKinds[kind].secret;
  const secret = secrets[kind];
  const { [field]: _, ...effective } = save;
  const settings: Field[] =
    stored === null
      ? differences({}, spare(shape, effective))
      : differences({ ...stored }, effective);
  // A withheld secret counts as given: a new connection gets it.
  const isNew = secret === 'different' || (stored === null && secret === 'withheld');
  const changed: Field[] = isNew ? [{ field, changed: true }] : [];
  const fields = [...settings, ...changed, ...further];
  if (stored !== null && fields.length === 0) return false;
  const action = stored === null ? 'add' : 'change';
  draft.changes.push({ section: kind, action, key: kind, fields });
  return true;
}

/** The domains that are verified once the plan is applied. */
function verifiedAfter({ steps }: Draft<DomainsSteps>, { state }: ConnectionWanted): Set<string> {
  const removed = new Set(steps.domains.remove);
  const left = state.domains.filter(
    ({ name, state }) => state === 'Verified' && !removed.has(name),
  );
  return new Set(left.map(({ name }) => name));
}

function unverified(
  { state: { organization } }: ConnectionWanted,
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
