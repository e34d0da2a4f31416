import { z } from 'zod';
import { maxCounted } from '../../errors.ts';

/** Checks the entries in turn, and stops after `maxCounted` faults (security X11). */
const StoppingArray = z.core.$constructor<z.ZodArray>('StoppingArray', (list, def) => {
  z.ZodArray.init(list, def);
  const whole = list._zod.parse;
  const max = Math.min(...z.core.util.sizeCaps(def.checks).map(([size]) => size));
  list._zod.parse = (payload, ctx) => {
    const { value } = payload;
    // Zod itself refuses another type and a list that is too long, without reading the entries.
    if (!Array.isArray(value) || value.length > max) return whole(payload, ctx);
    const read: unknown[] = [];
    for (const [at, entry] of value.entries()) {
      const result = def.element._zod.run({ value: entry, issues: [] }, ctx);
      if (result instanceof Promise) throw new Error('the entries of a list cannot wait');
      payload.issues.push(...z.core.util.prefixIssues(at, result.issues));
      read.push(result.value);
      if (payload.issues.length >= maxCounted) break;
    }
    payload.value = read;
    return payload;
  };
});

/** A list of at most `max` entries. */
export function list<Entry extends z.ZodType>(entry: Entry, max: number): z.ZodArray<Entry> {
  // The constructor makes the same schema as `z.array`, whose entry is of this type.
  const made = new StoppingArray({ type: 'array', element: entry }) as z.ZodArray<Entry>;
  return made.max(max, `must have at most ${max} entries`);
}
