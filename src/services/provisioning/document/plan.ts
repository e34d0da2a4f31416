import { Refusal } from '../../../errors.ts';
import { type Blocked, type Draft, emptyDraft } from './changes.ts';
import { findLosing } from './losing.ts';
import { planPeople } from './plan-people.ts';
import { planSettings } from './plan-settings.ts';
import type { Document } from './schema.ts';
import type { State } from './state.ts';

// Pure: the state, the document and a few facts about others give the plan.

/** The account of an address that is not a member, or why it cannot be added. */
export type Person = { accountId: string } | Pick<Blocked, 'code' | 'message' | 'hint'>;

/** Facts beyond the organization's own state. */
export interface Outside {
  /** For addresses in the document that the state does not have. */
  people: Map<string, Person>;
  /** Domains that other organizations have verified. */
  taken: Set<string>;
  /** `trust.domains: off`: a connection needs no verified domain. */
  trusting: boolean;
  /** The accounts that sign in by each connection. */
  linked: Record<'sso' | 'ldap', string[]>;
  /** The groups that each person had at the last sign-in through a connection. */
  groups: Map<string, string[] | null>;
}

/** All that decides a plan. */
export interface Wanted {
  state: State;
  document: Document;
  prune: boolean;
  /** Whether a given secret is the stored one; null if none is given. */
  secrets: Record<'sso' | 'ldap', 'same' | 'different' | null>;
  outside: Outside;
}

/**
 * Compares an organization with its document. Refuses a document that names what does not exist, and
 * one that leaves no owner.
 */
export function planDocument(wanted: Wanted): Omit<Draft, 'faults'> {
  const draft = emptyDraft();
  planSettings(draft, wanted);
  planPeople(draft, wanted);
  const { faults, ...plan } = draft;
  if (faults.length > 0) throw refuseFaults(faults);
  return { ...plan, losing: findLosing(plan, wanted) };
}

function refuseFaults(given: Draft['faults']): Refusal {
  const faults = given.map(({ path, message }) => ({ path: `document.${path}`, message }));
  const message = faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ');
  return new Refusal('invalid_input', message, { faults });
}
