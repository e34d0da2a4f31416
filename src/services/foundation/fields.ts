import { z } from 'zod';
import { roles } from '../../database/models/membership.ts';
import { Refusal } from '../../errors.ts';
import { nextParts, nextText } from '../../next.ts';
import { isSeen } from '../../text/unseen.ts';
import { canonicalDomain, canonicalEmail } from './domain-names/canonical.ts';
import { projectRoles } from './project-roles.ts';

// Fields shared by the inputs and views of several services.

const unseen = 'must not contain control characters, bidirectional or other invisible characters';

/** Refuses a text of spaces, for `refine`. An empty text is another rule's. */
export const notBlank = [
  (text: string) => text === '' || text.trim() !== '',
  'must not consist of spaces',
] as const;

/** An id: a UUID, in lower case once parsed. */
export const id = z.uuid({ error: 'must be an id (a UUID)', abort: true }).toLowerCase();

/** An organization or project by id or slug. */
export const ref = z.string().min(1).max(100);

/** A name that people choose: 1 to 200 characters, none of them invisible (security X9). */
export const name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  .refine(isSeen, unseen);

/** A description of up to 1000 characters, none of them invisible. Empty becomes null. */
export const description = z
  .string()
  .trim()
  .max(1000, 'must have at most 1000 characters')
  .refine(isSeen, unseen)
  .transform((text) => text || null);

/** A project's short name in paths. */
export const slug = z
  .string()
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'must be lower-case letters and digits, joined by single dashes',
  )
  .max(60, 'must have at most 60 characters')
  .refine((text) => !isUuid(text), 'must not look like an id');

/** An organization's short name in paths. Names that are paths are reserved. */
export const organizationSlug = slug.refine(
  (text) => !reservedPaths.includes(text),
  'is reserved; choose another',
);

/** An e-mail address, canonical once parsed. */
export const email = canonical(canonicalEmail, 'must be an e-mail address such as ada@example.com');

/** An e-mail domain, canonical once parsed. */
export const domain = canonical(canonicalDomain, 'must be a domain such as example.com');

/** A language tag, such as `en` or `de-AT`. */
export const locale = z
  .string()
  .regex(/^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$/, 'must be a language tag such as en or de-AT')
  .max(35);

/** An account named by its id or its address; addresses become canonical. */
export const userRef = z.union([id, email], 'must be an e-mail address or an id');

/** A role in an organization. */
export const role = z.enum(roles, `must be one of ${roles.join(', ')}`);

/** An instant in a view. */
export const instant = z.iso.datetime();

type Shown<Value> = Value extends Date ? string : Value;

/** The fields of a view that the row has under the same names, with times as text. */
export function viewOf<Shape extends z.ZodRawShape, Row extends object>(
  { shape }: z.ZodObject<Shape>,
  row: Row,
) {
  const shown = Object.keys(shape).flatMap((name) => {
    if (!(name in row)) return [];
    const value: unknown = Reflect.get(row, name);
    return [[name, value instanceof Date ? value.toISOString() : value] as const];
  });
  // The compiler cannot infer that the names are the shape's and the values are the row's.
  return Object.fromEntries(shown) as { [Name in keyof Shape & keyof Row]: Shown<Row[Name]> };
}

const uuid = z.regexes.uuid();

/** Whether the text has the form of an id. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

const reservedPaths = ['new', 'api', 'admin', 'auth', 'login', 'me', 'orgs', 'scim'];

function canonical(canonicalize: (text: string) => string | null, message: string) {
  return z
    .string()
    .max(1000)
    .transform((text, ctx) => {
      const form = canonicalize(text);
      if (form !== null) return form;
      ctx.addIssue({ code: 'custom', message });
      return z.NEVER;
    });
}

const projectRoleNames = projectRoles.map(({ role }) => role);

/** A role in a project. The API's description says what each grants. */
export const projectRole = z
  .enum(projectRoleNames, `must be one of ${projectRoleNames.join(', ')}`)
  .describe(
    `Lowest first. ${projectRoles.map(({ role, grants }) => `${role}: ${grants}`).join(' ')}`,
  );

export const givenInvitation = z.string().min(1).max(200);

/**
 * Derives a slug of this kind from a name: lower case, with dashes for all but letters and digits.
 */
export function slugOf(name: string, kind: z.ZodType<string> = slug): string {
  const text = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  if (kind.safeParse(text).success) return text;
  throw new Refusal('invalid_input', `slug: cannot be made from ${JSON.stringify(name)}`, {
    faults: [{ path: 'slug', message: 'is required: no short name can be derived from this name' }],
    hint: {
      technical: 'Give one with --slug (or `slug`): lower-case letters, digits and single dashes.',
    },
  });
}

/** The steps of a connection test that ran, in order. */
export const testSteps = z.array(
  z.object({
    name: z.string(),
    ok: z.boolean(),
    skipped: z.literal(true).optional().describe('The step was not checked, which is no fault.'),
    expected: z.string().optional(),
    seen: z.string().optional(),
    /** The one thing to change. */
    hint: nextText.optional(),
    next: nextParts.optional(),
  }),
);
