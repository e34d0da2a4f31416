import { z } from 'zod';
import { type InputFault, maxFaults, type Refusal, refuseFaults, refuseField } from './errors.ts';
import { cut } from './text/cut.ts';
import { nearest } from './text/nearest.ts';

/**
 * Checks outside data. Returns the value with the schema's type, or refuses with `invalid_input`
 * and names the refused fields.
 */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const known: Known = new Map();
  // Without its input, an issue cannot distinguish an absent field from one of the wrong type.
  const result = schema.safeParse(value, { reportInput: true, error: plainly(known) });
  if (result.success) return result.data;
  throw refuseIssues(result.error.issues, known);
}

/** The maximum number of unknown fields for which a refusal looks for the name that was meant. */
const maxMeant = 5;

/** Words only the faults that the refusal names, because anyone can send thousands (X11). */
function refuseIssues(issues: z.core.$ZodIssue[], known: Known): Refusal {
  const faults: InputFault[] = [];
  let [left, meant] = [maxFaults, maxMeant];
  let total = 0;
  for (const issue of issues) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : null;
    total += keys?.length ?? 1;
    const at = issue.path.map((key) => cut(String(key), longestName)).join('.');
    if (keys === null && left > 0) faults.push({ path: at, message: cut(wording(issue), 300) });
    for (const key of keys?.slice(0, left) ?? []) {
      const near = meant > 0 ? nearest(key, known.get(issue.input) ?? []) : null;
      meant -= 1;
      faults.push(unknownField(at, key, near));
    }
    left = maxFaults - faults.length;
  }
  return refuseFaults(faults, { moreFaults: total - faults.length });
}

const longestName = 60;

function unknownField(at: string, key: string, near: string | null): InputFault {
  const meant = near === null ? '' : `; did you mean ${near}?`;
  const name = cut(key, longestName);
  return { path: at ? `${at}.${name}` : name, message: `is not a known field${meant}` };
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks a text as the value of one field. The refusal names the field, never the text. */
export function parseField<T>(field: string, schema: z.ZodType<T>, text: string): T {
  const { success, data, error } = schema.safeParse(text);
  if (success) return data;
  throw refuseField(field, error.issues[0]?.message ?? 'is invalid');
}

/** The known field names, for each object that has an unknown field. */
type Known = Map<unknown, string[]>;

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'is required';
    return `must be ${issue.expected === 'boolean' ? 'true or false' : article(issue.expected)}`;
  }
  return issue.message;
}

// The messages of schemas without messages of their own. Also notes the known field names of
// objects.
const plainly =
  (known: Known) =>
  (issue: z.core.$ZodRawIssue): string | undefined => {
    const unit = issue.origin === 'string' ? ' characters' : '';
    if (issue.code === 'unrecognized_keys') known.set(issue.input, namesIn(issue.inst));
    if (issue.code === 'too_small') {
      if (unit !== '' && issue.minimum === 1) return 'must not be empty';
      return `must ${unit === '' ? 'be' : 'have'} at least ${issue.minimum}${unit}`;
    }
    if (issue.code === 'too_big')
      return `must ${unit === '' ? 'be' : 'have'} at most ${issue.maximum}${unit}`;
    return undefined;
  };

function namesIn(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
