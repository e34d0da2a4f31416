import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { refuseFaults } from '../../../errors.ts';
import { capReached, sectionsWithCap } from '../../foundation/limits/caps.ts';
import type { Draft, Losing } from './changes.ts';
import { findLosing } from './losing.ts';
import { type State, type Steps, sections } from './sections.ts';
import type { PlanInput } from './wanted.ts';

// Computes the plan only from the state, the document and the facts that `collect.ts` reads.

/** A plan, with the steps that carry it out. */
export type Plan = Omit<Draft<Steps>, 'faults'> & { losing: Losing[] };

/**
 * Compares an organization with its document. Refuses a document that cannot be applied, such as
 * one that names a missing project or removes the last owner.
 */
export async function planDocument(wanted: PlanInput): Promise<Plan> {
  // The loop fills the steps. A section uses only those of sections that come before it.
  const steps = {} as Steps;
  const draft: Draft<Steps> = { changes: [], kept: [], blocked: [], steps, faults: [] };
  for (const [name, section] of Object.entries(sections)) {
    Object.assign(steps, { [name]: section.plan(draft, wanted) });
    // Each section may loop over 10,000 entries, so other work runs in between.
    await yieldToEventLoop();
  }
  const { faults, ...plan } = draft;
  const placed = faults.map(({ path, message }) => ({ path: `document.${path}`, message }));
  if (placed.length > 0) throw refuseFaults(placed);
  requireCaps(wanted.state, steps);
  return { ...plan, losing: await findLosing(plan, wanted) };
}

/** Refuses with `cap_reached` if an apply of the steps would (security O15). */
function requireCaps(state: State, steps: Steps): void {
  for (const name of sectionsWithCap) {
    const { max, count, removesFirst } = sections[name].cap;
    const { add, remove } = steps[name];
    const left = count(state) - (removesFirst ? remove.length : 0);
    if (add.length > 0 && left + add.length > max) throw capReached(name, state.organization);
  }
}
