import {
  type Attribute,
  attributes,
  type Column,
  enterpriseSchema,
  userSchema,
} from './attributes.ts';

/** The target of a text: an attribute and, if the text names one, its sub-attribute. */
export interface Target {
  attribute: Attribute;
  sub: Attribute | null;
}

const targets = new Map<string, Target>();

for (const attribute of attributes) {
  const extended = attribute.schema === enterpriseSchema;
  // RFC 7644 §3.10: an extension's attribute must be named with its schema.
  const names = extended
    ? [`${enterpriseSchema}:${attribute.name}`]
    : [attribute.name, `${userSchema}:${attribute.name}`];
  for (const name of names) {
    targets.set(name.toLowerCase(), { attribute, sub: null });
    for (const sub of attribute.subAttributes) {
      targets.set(`${name}.${sub.name}`.toLowerCase(), { attribute, sub });
    }
  }
}

/** The target of the name in any case, with or without its URN (RFC 7644 §3.10), or null. */
export function findTarget(name: string): Target | null {
  return targets.get(name.toLowerCase()) ?? null;
}

/** The column to look up the target's value in, or null. */
export function columnOf({ attribute, sub }: Target): Column | null {
  return (sub ?? attribute).column;
}

/** The sub-attribute of that name, in any letter case, or null. */
export function findSub(attribute: Attribute, name: string): Attribute | null {
  const wanted = name.toLowerCase();
  return attribute.subAttributes.find((sub) => sub.name.toLowerCase() === wanted) ?? null;
}

/** The schema whose whole name is this text, in any letter case, or null. */
export function findSchema(name: string): string | null {
  const wanted = name.toLowerCase();
  return [userSchema, enterpriseSchema].find((schema) => schema.toLowerCase() === wanted) ?? null;
}

/** Folds values that are not case-exact, for comparison and for storage. */
export function fold(text: string): string {
  // A sigma must look the same inside a word and at its end, or `co` would miss it.
  return text.toLowerCase().normalize('NFC').replaceAll('ς', 'σ');
}
