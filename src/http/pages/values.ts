import { z } from 'zod';

/**
 * The values that the texts of a form mean, by the schema of its fields: a number, true and false,
 * and a list with one entry on each line. A text that means none stays, so that the schema refuses
 * it. A field in `whole` without a text has the empty value, if its schema has one.
 */
export function valuesOf(
  { shape }: z.ZodObject,
  given: Record<string, string>,
  whole: readonly string[] = [],
): Record<string, unknown> {
  const values = Object.entries(given).map(([name, text]) => {
    const field = shape[name];
    return [name, field === undefined ? text : meaningOf(innermost(field), text)];
  });
  const empty = whole
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => [name, shape[name] && emptyOf(shape[name])])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries([...values, ...empty]);
}

function emptyOf(schema: z.core.$ZodType): unknown {
  if (isNullable(schema)) return null;
  const inner = innermost(schema);
  if (inner instanceof z.ZodArray) return [];
  return inner instanceof z.ZodString ? '' : undefined;
}

function isNullable(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodNullable) return true;
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapped && isNullable(schema.unwrap());
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
