import type { z } from 'zod';
import { connectionKindNames } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { maxCounted } from '../../../errors.ts';
import { cut } from '../../../text/cut.ts';
import { list } from '../../foundation/list.ts';

// What each section of a document has, and what several sections share.

/** The names of the sections of a document, in the order of an export. */
export const sectionNames = [
  'organization',
  'domains',
  ...connectionKindNames,
  'mappings',
  'projects',
  'members',
  'signin',
  'webhooks',
  'clients',
] as const;

/** The name of a section of the document. */
export type SectionName = (typeof sectionNames)[number];

/** Reads a part of the stored state. It may use the parts that were read before. */
export type Read<Stored, Before = object> = (
  ctx: Context,
  organization: Organization,
  before: Before,
) => Promise<Stored>;

/** Carries out the steps of a part, with the rights and the events of its operations. */
export type Apply<Steps> = (
  ctx: Context,
  organization: Organization,
  steps: Steps,
) => Promise<void>;

/** A part of the organization's state that is read and planned on its own. */
export interface Part {
  read: Read<unknown, never>;
  /**
   * Adds the changes to the draft, and returns the steps that carry them out. Does not write to the
   * database.
   */
  plan: (draft: never, wanted: never) => unknown;
}

/** A section of the document. Its functions name the parts of state and document that they use. */
export interface Section extends Part {
  /** The section as sent for a plan. */
  input: z.ZodType;
  exported: z.ZodType;
  /** The section in an export; undefined if it is left out. */
  view: (state: never) => unknown;
  /**
   * The maximum number of entries that count, and whether removals come first; null without a cap.
   */
  cap: { max: number; count: (state: never) => number; removesFirst?: boolean } | null;
}

/** Refuses a second entry of the same name, with its position in the list. */
function distinct<Entry>(nameOf: (entry: Entry) => string) {
  return (entries: Entry[], ctx: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [at, entry] of entries.entries()) {
      const named = nameOf(entry);
      if (seen.has(named)) {
        const message = `${cut(named, 100)} is listed twice`;
        ctx.addIssue({ code: 'custom', path: [at], message });
      }
      if (ctx.issues.length >= maxCounted) return;
      seen.add(named);
    }
  };
}

/** The maximum number of entries of a list in a document (security O15). */
const maxEntries = 10_000;

/** A list in a document. Each entry has a different name. */
export const listOf = <Entry extends z.ZodType>(
  entry: Entry,
  nameOf: (entry: z.output<Entry>) => string,
  about: string,
  max = maxEntries,
) => list(entry, max).superRefine(distinct(nameOf)).describe(about);

/** The members whose address the organization knows, as in an export. */
export function named<Role>(members: { email: string | null; role: Role }[]) {
  return members
    .flatMap(({ email, role }) => (email === null ? [] : [{ email, role }]))
    .toSorted(by(({ email }) => email));
}

/** Compares by a text, in the same order in every locale. */
export function by<Entry>(textOf: (entry: Entry) => string) {
  return (one: Entry, other: Entry): number => {
    const [a, b] = [textOf(one), textOf(other)];
    return a < b ? -1 : a > b ? 1 : 0;
  };
}
