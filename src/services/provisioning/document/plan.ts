import { Refusal } from '../../../errors.ts';
import { type Draft, emptyDraft } from './changes.ts';
import { findLosing } from './losing.ts';
import { planPeople } from './plan-people.ts';
import { planSettings } from './plan-settings.ts';
import type { Wanted } from './wanted.ts';

// Pure: the state, the document and a few facts about others give the plan.

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
