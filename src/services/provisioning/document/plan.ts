import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { refuseFaults } from '../../../errors.ts';
import { requireCaps } from './caps.ts';
import { emptyDraft, type PlanDraft } from './changes.ts';
import { findLosing } from './losing.ts';
import { planClients } from './plan-clients.ts';
import { peopleParts } from './plan-people.ts';
import { planSettings } from './plan-settings.ts';
import type { PlanInput } from './wanted.ts';

// Computes the plan only from the state, the document and the facts that `gather.ts` reads.

/**
 * Compares an organization with its document. Refuses a document that cannot be applied, such as
 * one that names a missing project or removes the last owner.
 */
export async function planDocument(wanted: PlanInput): Promise<Omit<PlanDraft, 'faults'>> {
  const draft = emptyDraft();
  // Each part may loop over 10,000 entries, so other work runs in between.
  for (const planPart of [planSettings, ...peopleParts, planClients]) {
    planPart(draft, wanted);
    await yieldToEventLoop();
  }
  const { faults, ...plan } = draft;
  const placed = faults.map(({ path, message }) => ({ path: `document.${path}`, message }));
  if (placed.length > 0) throw refuseFaults(placed);
  requireCaps(wanted.state, plan.steps);
  return { ...plan, losing: await findLosing(plan, wanted) };
}
