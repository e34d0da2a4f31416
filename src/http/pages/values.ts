import { z } from 'zod';

/**
 * The values that the texts of a form mean, by the schema of its fields: a number, true and false,
 * and a list with one entry on each line. A text that means none stays, so that the schema refuses it.
 */
export function valuesOf(
  { shape }: z.ZodObject,
  given: Record<string, string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => {
      const field = shape[name];
      return [name, field === undefined ? text : meaningOf(innermost(field), text)];
    }),
  );
}

function meaningOf(schema: z.core.$ZodType, text: string): unknown {
  if (schema instanceof z.ZodNumber) return /^-?\d+$/.test(text) ? Number(text) : text;
  if (schema instanceof z.ZodBoolean)
    return text === 'true' ? true : text === 'false' ? false : text;
  if (schema instanceof z.ZodArray) return linesOf(text);
  return text;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The schema inside optional, nullable and default ones. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault;
  return isWrapped ? innermost(schema.unwrap()) : schema;
}
