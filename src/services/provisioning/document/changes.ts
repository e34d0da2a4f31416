import { z } from 'zod';
import { type Next, nextParts, nextText } from '../../../next.ts';
import { type SectionName, sectionNames } from './section.ts';

// The parts of a plan.

const section = z.enum(sectionNames);
const entry = z.object({ section, key: z.string() });
const field = z.union([
  z.object({ field: z.string(), changed: z.literal(true) }),
  z.object({ field: z.string(), from: z.unknown(), to: z.unknown() }),
]);

const change = z.object({
  section,
  action: z.enum(['add', 'change', 'remove']),
  key: z.string(),
  fields: z.array(field).optional(),
});
const losing = z.object({
  email: z.string(),
  project: z.string().optional(),
  from: z.string(),
  to: z.string().nullable(),
});

export const planView = z.object({
  changes: z.array(change),
  kept: z.array(entry).describe('Entries that only `prune` removes: the document omits them.'),
  losing: z.array(losing).describe('People who would lose a role or a way to sign in.'),
  blocked: z
    .array(
      entry.extend({
        code: z.string(),
        message: z.string(),
        hint: nextText,
        next: nextParts.optional(),
      }),
    )
    .describe('Entries that are waiting for an outside step, such as a TXT record.'),
  notCompared: z
    .array(z.string())
    .describe('Secrets that were withheld, so that the plan could not compare them.'),
  digest: z.string().describe('A digest of the plan and its input. Send it to `apply`.'),
});

/** The difference in one field. For a secret it does not contain values. */
export type Field = z.output<typeof field>;

/** A person who would lose access. `from` is a role or a connection, `to` a role or null. */
export type Losing = z.output<typeof losing>;

/** A change that must wait until something outside the document is done. */
export interface Blocked {
  section: SectionName;
  key: string;
  code: 'domain_unverified' | 'domain_taken' | 'invite_instead' | 'not_found' | 'conflict';
  message: string;
  hint: Next;
}

/** A plan under construction. `steps` has the steps of the parts that were planned before. */
export interface Draft<Steps = object> {
  changes: z.output<typeof change>[];
  kept: { section: SectionName; key: string }[];
  blocked: Blocked[];
  steps: Steps;
  /** Faults of the document that can be found only by comparing it with the state. */
  faults: { path: string; message: string }[];
}

/** The fields that differ, in the order of `wanted`. */
export function differences(
  current: Record<string, unknown>,
  wanted: Record<string, unknown>,
): Field[] {
  return Object.entries(wanted).flatMap(([field, to]) => {
    const [before, after] = [current[field] ?? null, to ?? null];
    const same = JSON.stringify(before) === JSON.stringify(after);
    return same ? [] : [{ field, from: before, to: after }];
  });
}

/** Plans the removal of surplus rows and returns them. Without `prune`, lists them as kept. */
export function dropSurplus<Row>(
  draft: Draft,
  section: SectionName,
  surplus: Row[],
  {
    prune,
    keyOf,
    fieldsOf,
  }: { prune: boolean; keyOf: (row: Row) => string; fieldsOf?: (row: Row) => Field[] },
): Row[] {
  for (const row of surplus) {
    const key = keyOf(row);
    if (!prune) draft.kept.push({ section, key });
    else {
      const fields = fieldsOf?.(row) ?? [];
      draft.changes.push({
        section,
        action: 'remove',
        key,
        ...(fields.length === 0 ? {} : { fields }),
      });
    }
  }
  return prune ? surplus : [];
}
