import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { WordsFor } from './setting-words.ts';

// A setting is declared once: its schema with its default, and its words. The input of a change, the
// descriptions and the spare form of an object follow.

type Plain<Schema> =
  Schema extends z.ZodDefault<infer Inner>
    ? Inner
    : Schema extends z.ZodOptional<infer Inner>
      ? Inner
      : Schema;

type Changing<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: Plain<Shape[Name]> extends infer Inner extends z.core.SomeType
    ? z.ZodOptional<Inner>
    : never;
};

/** The settings in a change: an absent one keeps its value. */
export function changing<Shape extends z.ZodRawShape>(shape: Shape): Changing<Shape> {
  const changed = Object.entries(shape).map(([name, schema]) => {
    const isWrapped = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional;
    const plain = isWrapped ? schema.unwrap() : schema;
    // A shape of schemas has Zod's own type, which does not declare the description.
    const { description } = schema as z.ZodType;
    const changed = z.optional(plain);
    return [name, description === undefined ? changed : changed.describe(description)];
  });
  // Each entry has the type that `Changing` computes from the schema.
  return Object.fromEntries(changed) as Changing<Shape>;
}

/** The settings, each with the description of its words. */
export function described<Shape extends z.ZodRawShape>(
  shape: Shape,
  words: WordsFor<Extract<keyof Shape, string>>,
): Shape {
  // Object.entries returns the names as `string`, and the type of a raw shape does not say that its
  // members are schemas.
  const told = Object.entries(shape).map(([name, schema]) => {
    const { about } = words[name as Extract<keyof Shape, string>];
    return [name, (schema as z.ZodType).describe(about)];
  });
  // A description does not change the type of a schema.
  return Object.fromEntries(told) as Shape;
}

/** The settings in the order of their schemas, without nulls and default values. */
export function spare(
  shape: z.ZodRawShape,
  settings: Record<string, unknown>,
): Record<string, unknown> {
  const said = Object.entries(shape).flatMap(([name, schema]) => {
    const value = settings[name];
    const usual = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
    const isUsual = value === undefined || value === null || isDeepStrictEqual(value, usual);
    return isUsual ? [] : [[name, value]];
  });
  return Object.fromEntries(said);
}
