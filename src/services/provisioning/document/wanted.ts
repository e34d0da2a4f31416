import type { Wanted } from './outside.ts';
import type { Document } from './schema.ts';
import type { State } from './sections.ts';

/** Everything that decides a plan. */
export type PlanInput = Wanted<State, Document>;
