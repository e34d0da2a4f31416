import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { type State, sections } from './sections.ts';

/** Reads the organization's current state. */
export async function readOrganizationState(
  ctx: Context,
  organization: Organization,
): Promise<State> {
  // The loop fills the state. A section reads only those that come before it.
  const state = {} as State;
  for (const [name, section] of Object.entries(sections))
    Object.assign(state, { [name]: await section.read(ctx, organization, state) });
  return state;
}
