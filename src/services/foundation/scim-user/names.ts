import {
  type Attribute,
  attributes,
  type Column,
  enterpriseSchema,
  userSchema,
} from './attributes.ts';

/** What a text names: an attribute and, when it names one, its sub-attribute. */
export interface Target {
  attribute: Attribute;
  sub: Attribute | null;
}

const targets = new Map<string, Target>();

for (const attribute of attributes) {
  const extended = attribute.schema === enterpriseSchema;
  // RFC 7644 §3.10: what an extension defines must be named with its schema.
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

/** What the name means, in any case of letters, with or without its schema's URN (RFC 7644 §3.10), or null. */
export function findTarget(name: string): Target | null {
  return targets.get(name.toLowerCase()) ?? null;
}

/** The column in which the value of the target is looked up, or null. */
export function columnOf({ attribute, sub }: Target): Column | null {
  return (sub ?? attribute).column;
}

/** The sub-attribute of that name, in any case of letters, or null. */
export function findSub(attribute: Attribute, name: string): Attribute | null {
  const wanted = name.toLowerCase();
  return attribute.subAttributes.find((sub) => sub.name.toLowerCase() === wanted) ?? null;
}

/** The schema that the text names as a whole, in any case of letters, or null. */
export function findSchema(name: string): string | null {
  const wanted = name.toLowerCase();
  return [userSchema, enterpriseSchema].find((schema) => schema.toLowerCase() === wanted) ?? null;
}

/** The form in which values that are not case-exact are compared, and stored for look-up. */
export function fold(text: string): string {
  // A sigma must look the same inside a word and at its end, or `co` would miss it.
  return text.toLowerCase().normalize('NFC').replaceAll('ς', 'σ');
}
