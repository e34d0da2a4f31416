import { type Attribute, type Column, enterpriseSchema, userSchema } from './attribute.ts';
import { attributes } from './attributes.ts';

/** The attribute that a name in a request refers to and, if named, the sub-attribute. */
export interface Target {
  attribute: Attribute;
  sub: Attribute | null;
}

/** The names of one kind of resource. */
export interface Names {
  kind: 'User' | 'Group';
  attributes: readonly Attribute[];
  /** The target of a name in any letter case, or null. The URN of its schema may come first. */
  findTarget(name: string): Target | null;
  /** The schema whose whole name is this text, in any letter case, or null. */
  findSchema(name: string): string | null;
}

/** Creates the lookup of a resource's attribute and schema names. */
export function namesOf(
  kind: Names['kind'],
  attributes: readonly Attribute[],
  schemas: readonly string[],
): Names {
  const targets = new Map<string, Target>();
  for (const attribute of attributes) {
    const extended = attribute.schema === enterpriseSchema;
    // RFC 7644 §3.10: an extension's attribute must be named with its schema.
    const names = extended
      ? [`${enterpriseSchema}:${attribute.name}`]
      : [attribute.name, `${schemas[0]}:${attribute.name}`];
    for (const name of names) {
      targets.set(name.toLowerCase(), { attribute, sub: null });
      for (const sub of attribute.subAttributes) {
        targets.set(`${name}.${sub.name}`.toLowerCase(), { attribute, sub });
      }
    }
  }
  return {
    kind,
    attributes,
    findTarget: (name) => targets.get(name.toLowerCase()) ?? null,
    findSchema: (name) =>
      schemas.find((schema) => schema.toLowerCase() === name.toLowerCase()) ?? null,
  };
}

/** The names of a User. */
export const userNames = namesOf('User', attributes, [userSchema, enterpriseSchema]);
export const { findTarget, findSchema } = userNames;

/** The column to look up the target's value in, or null. */
export function columnOf({ attribute, sub }: Target): Column | null {
  return (sub ?? attribute).column;
}

/** The sub-attribute of that name, in any letter case, or null. */
export function findSub(attribute: Attribute, name: string): Attribute | null {
  const wanted = name.toLowerCase();
  return attribute.subAttributes.find((sub) => sub.name.toLowerCase() === wanted) ?? null;
}

/** Folds a value that is not case-exact, for comparison and for storage. */
export function fold(text: string): string {
  // A sigma must look the same inside a word and at its end, or the filter `co` would miss it.
  return text.toLowerCase().normalize('NFC').replaceAll('ς', 'σ');
}
