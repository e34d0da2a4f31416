import type { z } from 'zod';
import { type InputFault, Refusal } from './errors.ts';

/**
 * All outside data enters here. Returns the value with the schema's type, or refuses
 * `invalid_input` with every refused field.
 */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  // Without its input, an issue cannot distinguish an absent field from one of the wrong type.
  const result = schema.safeParse(value, { reportInput: true, error: plainly });
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap(faultsOf);
  throw new Refusal(
    'invalid_input',
    faults.map((f) => (f.path ? `${f.path}: ${f.message}` : f.message)).join('; '),
    {
      faults,
    },
  );
}

function faultsOf(issue: z.core.$ZodIssue): InputFault[] {
  const at = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: at ? `${at}.${key}` : key,
      message: 'is not a known field',
    }));
  }
  return [{ path: at, message: wording(issue) }];
}

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`;
  }
  return issue.message;
}

// The messages for schemas without their own.
function plainly(issue: z.core.$ZodRawIssue): string | undefined {
  const unit = issue.origin === 'string' ? ' characters' : '';
  if (issue.code === 'too_small') {
    if (unit !== '' && issue.minimum === 1) return 'must not be empty';
    return `must ${unit === '' ? 'be' : 'have'} at least ${issue.minimum}${unit}`;
  }
  if (issue.code === 'too_big')
    return `must ${unit === '' ? 'be' : 'have'} at most ${issue.maximum}${unit}`;
  return undefined;
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
