import { z } from 'zod';

// What a person can do next, as a value. The command line says it as a command, HTTP as a route, and
// a page as a sentence.

/** Every operation that a hint can name, with its arguments. Each door has its own spelling. */
export const operations = {
  'app.regenerate': ['id'],
  'app.set': ['id', 'org'],
  apply: ['org'],
  backup: ['file'],
  'client.add-redirect': ['client', 'org'],
  'client.allow-origin': ['client', 'org'],
  'client.list': ['org'],
  'client.make-confidential': ['client', 'org'],
  'client.remove': ['client', 'org'],
  'client.rotate': ['client', 'org'],
  'client.set': ['client', 'org'],
  'database.move': ['to'],
  doctor: [],
  'doctor.confirm-clock': [],
  'domain.add': ['domain', 'org'],
  'domain.list': ['org'],
  'domain.override': ['domain', 'org'],
  'domain.verify': ['domain', 'org'],
  'identity.list': ['user'],
  'identity.unlink': ['user'],
  init: [],
  'invitation.create': ['email', 'org', 'role'],
  'invitation.list': ['org'],
  'key.list': [],
  'ldap.approve': ['org'],
  'ldap.create': ['org'],
  'ldap.relink': ['org'],
  'ldap.set-password': ['org'],
  'ldap.test': ['org'],
  'mappings.list': ['org'],
  'member.add': ['email', 'org', 'role'],
  'member.add-trusted': ['email', 'org'],
  'member.remove': ['user', 'org'],
  'member.role': ['user', 'org', 'role'],
  migrate: [],
  'org.create': [],
  'org.list': [],
  'passkey.list': ['user'],
  'pat.create': ['user', 'scope'],
  plan: ['org'],
  'project-member.add': ['user', 'org', 'project', 'role'],
  'project-member.role': ['user', 'org', 'project', 'role'],
  'project.list': ['org'],
  restore: ['file'],
  'scim.groups': ['org'],
  'scim.log': ['org'],
  'scim.token.rotate': ['org'],
  serve: [],
  'setup-link.list': ['org'],
  'signin.show': ['org'],
  'sso.approve': ['org'],
  'sso.attempts': ['org'],
  'sso.create': ['org', 'domain'],
  'sso.relink': ['org'],
  'sso.set': ['org', 'absentGroups'],
  'sso.test': ['org'],
  'totp.enroll': [],
  'user.create': ['email'],
  'user.delete': ['user'],
  'user.enable': ['user'],
  'user.list': [],
  'user.login-link': ['user'],
  'user.password': ['user'],
  'user.remove-factors': ['user'],
  'user.show': ['user'],
  'user.unlock': ['user'],
  'webhook.deliveries': ['id', 'org'],
  'webhook.enable': ['id', 'org'],
  'webhook.list': ['org'],
} as const satisfies Record<string, readonly string[]>;

/** The name of an operation in the table. */
export type OperationName = keyof typeof operations;

/**
 * An operation to run. A door introduces it with `say`, a whole sentence without its full stop, or
 * with `to`, its purpose. An argument that is left out is shown as a placeholder.
 */
export type Todo = {
  [Name in OperationName]: {
    operation: Name;
    with?: { [Argument in (typeof operations)[Name][number]]?: string | undefined };
    to?: string;
    say?: string;
    /** Only the operator can run it, or runs it here. HTTP does not show a route. */
    by?: 'operator';
  };
}[OperationName];

/**
 * A part of a hint: a sentence for everyone; a technical sentence, about a setting, a header or a
 * shell, which a page leaves out; or an operation.
 */
export type Part = string | { technical: string } | Todo;

/** What to do next. The door that shows it turns it into words. */
export type Next = Part | readonly Part[];

/** The parts of a hint. */
export function partsOf(next: Next | undefined): readonly Part[] {
  if (next === undefined) return [];
  return isList(next) ? next : [next];
}

// `Array.isArray` does not narrow a readonly array.
function isList(next: Next): next is readonly Part[] {
  return Array.isArray(next);
}

/** Adds parts after a hint. */
export function withMore(next: Next | undefined, ...more: Part[]): Next {
  return [...partsOf(next), ...more];
}

/** The sentences for everyone; undefined if there are none. */
export function sentencesFor(next: Next | undefined): string | undefined {
  const sentences = partsOf(next).filter((part) => typeof part === 'string');
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** The sentence that sends a person to the operator for an operation. */
export function askOperator({ say, to }: Todo): string {
  if (say !== undefined) return `${say}.`;
  return to === undefined ? 'Ask the operator.' : `To ${to}, ask the operator.`;
}

/** The sentences of a hint, technical ones too, without its operations. */
export function plainText(next: Next | undefined): string {
  return partsOf(next)
    .flatMap((part) =>
      typeof part === 'string' ? [part] : 'technical' in part ? [part.technical] : [],
    )
    .join(' ');
}

/**
 * How a door puts an operation into words. `ends` says whether the text ends with something to
 * copy.
 */
type Say = (todo: Todo) => { text: string; ends: boolean };

/** The hint in the words of a door; undefined if it is empty. */
export function worded(next: Next | undefined, say: Say): string | undefined {
  let text = '';
  let copied = false;
  for (const part of partsOf(next)) {
    const said =
      typeof part === 'string'
        ? { text: part, ends: false }
        : 'technical' in part
          ? { text: part.technical, ends: false }
          : say(part);
    // A semicolon ends a command in a shell, so the line can be copied with it.
    if (text === '') text = said.text;
    else if (copied && said.ends) text += `; ${said.text.replace(/^To /, 'to ')}`;
    else text += copied ? `. ${said.text}` : ` ${said.text}`;
    copied = said.ends;
  }
  return text === '' ? undefined : text;
}

const argumentsOf: Record<string, readonly string[]> = operations;

const todo = z
  .strictObject({
    operation: z.string().max(60),
    with: z.record(z.string().max(60), z.string().max(500).optional()).optional(),
    to: z.string().max(500).optional(),
    say: z.string().max(500).optional(),
    by: z.literal('operator').optional(),
  })
  .refine(
    ({ operation, with: given = {} }) =>
      Object.hasOwn(argumentsOf, operation) &&
      Object.keys(given).every((name) => argumentsOf[operation]?.includes(name)),
  );

const technical = z.strictObject({ technical: z.string().max(2000) });

/** The parts of a hint, as JSON. */
export const nextParts = z
  .array(z.union([z.string().max(2000), technical, todo]))
  .max(20)
  .describe('What to do next, in parts: sentences, technical sentences, and operations by name.');

/** Reads the parts of a hint that another idctl sent; null if this idctl cannot read them. */
export function readNext(sent: unknown): Next | null {
  const { data } = nextParts.safeParse(sent);
  // The cast is safe: the refinement has checked the name and its arguments.
  return data === undefined ? null : (data as Next);
}

/**
 * The field of a view that says what to do next. The service gives a value, and each door turns it
 * into text. The cast states the type that services give.
 */
export const nextText = z
  .unknown()
  .refine((given) => typeof given === 'string' || isNext(given))
  .meta({ type: 'string' }) as z.ZodType<Next, Next>;

// An answer may have thousands of hints, whose types the compiler has checked: no schema reads them.
function isNext(given: unknown): given is Next {
  return (Array.isArray(given) ? given : [given]).every(isPart);
}

function isPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return typeof part === 'string';
  if ('technical' in part) return typeof part.technical === 'string';
  return (
    'operation' in part &&
    typeof part.operation === 'string' &&
    Object.hasOwn(operations, part.operation)
  );
}

/** Whether a field of this name may be a hint. */
export function isHintField(name: string): boolean {
  return name === 'hint' || name === 'message';
}

/** Whether the value is a hint that a door still has to turn into words. */
export function isUnworded(value: unknown): value is Next {
  return typeof value === 'object' && value !== null && isNext(value);
}
