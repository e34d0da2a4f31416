import { Refusal } from '../../../errors.ts';
import { slug } from '../../foundation/fields.ts';

/** Makes a slug from a name: lower case, with dashes for all but letters and digits. */
export function slugOf(name: string): string {
  const text = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  if (slug.safeParse(text).success) return text;
  throw new Refusal('invalid_input', `slug: no short name can be made of ${JSON.stringify(name)}`, {
    faults: [{ path: 'slug', message: 'is required with this name' }],
    hint: 'Give one with --slug (or `slug`): lower-case letters, digits and single dashes.',
  });
}
