import { Refusal } from '../../../errors.ts';
import { emptyDraft, type PlanDraft } from './changes.ts';
import { findLosing } from './losing.ts';
import { planClients } from './plan-clients.ts';
import { planPeople } from './plan-people.ts';
import { planSettings } from './plan-settings.ts';
import type { PlanInput } from './wanted.ts';

// Computes the plan only from the state, the document and the facts that `gather.ts` reads.

/**
 * Compares an organization with its document. Refuses a document that cannot be applied, such as
 * one that names a missing project or removes the last owner.
 */
export function planDocument(wanted: PlanInput): Omit<PlanDraft, 'faults'> {
  const draft = emptyDraft();
  planSettings(draft, wanted);
  planPeople(draft, wanted);
  planClients(draft, wanted);
  const { faults, ...plan } = draft;
  if (faults.length > 0) throw refuseFaults(faults);
  return { ...plan, losing: findLosing(plan, wanted) };
}

function refuseFaults(given: PlanDraft['faults']): Refusal {
  const faults = given.map(({ path, message }) => ({ path: `document.${path}`, message }));
  const message = faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ');
  return new Refusal('invalid_input', message, { faults });
}
