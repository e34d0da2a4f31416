import { type Cap, capNames, capReached, caps } from '../../foundation/limits/caps.ts';
import type { Steps } from './changes.ts';
import type { Section } from './schema.ts';
import type { State } from './state.ts';

// Compares a document and its organization with the caps (security O15).

/** Whether an organization can have only so many entries of the section. */
export function isCapped(section: Section): section is Cap {
  return Object.hasOwn(caps, section);
}

/** How many entries count for each cap. Of the domains, only those that are pending. */
export function countsOf(state: State): Record<Cap, number> {
  const { webhooks, clients, projects, mappings } = state;
  return {
    domains: state.domains.filter((domain) => domain.state === 'Pending').length,
    webhooks: webhooks.length,
    clients: clients.length,
    projects: projects.length,
    mappings: mappings.length,
  };
}

/** Refuses `cap_reached` if an apply of the steps would. */
export function requireCaps(state: State, steps: Steps): void {
  const stored = countsOf(state);
  // An apply adds domains and projects before it removes others.
  const after: Record<Cap, [added: number, removedBefore: number]> = {
    domains: [steps.addDomains.length, 0],
    webhooks: [steps.addWebhooks.length, steps.removeWebhooks.length],
    clients: [steps.addClients.length, steps.removeClients.length],
    projects: [steps.addProjects.length, 0],
    mappings: [steps.addMappings.length, steps.removeMappings.length],
  };
  for (const cap of capNames) {
    const [added, removed] = after[cap];
    if (added > 0 && stored[cap] - removed + added > caps[cap].most)
      throw capReached(cap, state.organization);
  }
}
