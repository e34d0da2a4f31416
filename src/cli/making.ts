import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../errors.ts';
import { parse } from '../input.ts';
import { sentences } from '../text/words.ts';
import type { Fields } from './output.ts';
import type { Call, Runs } from './run.ts';

type Input = Record<string, unknown>;

/** A view whose secret may be null: for an existing object, and in a dry run. */
export type Hiding<View, Secret extends keyof View> = Omit<View, Secret> & {
  [Name in Secret]: View[Name] | null;
};

/** How a command shows the object that it creates, and how it finds an existing one. */
interface Making<View> {
  fields: Fields<View>;
  /** The input to use instead of the typed one. */
  input?: Input;
  /** The field that is shown only once. With `--quiet`, only its value is printed. */
  secret?: keyof View;
  /** Other fields that contain the secret. */
  hides?: readonly (keyof View)[];
  /** The note after a view with a secret. */
  advice?: string;
  /**
   * The operation does not refuse every duplicate: `--if-absent` must look for one first, as `find`
   * does or with this function.
   */
  repeats?: true | Making<View>['find'];
  /** Finds the existing object that the input names. Its secret is null. */
  find: (given: Input) => Promise<View | undefined>;
  /** The fields of the existing object to compare with the input, by their names in the input. */
  has?: (view: View, given: Input) => Input;
}

interface Made<View> {
  view: View;
  /** Whether this command created the object; false in a dry run. */
  made: boolean;
}

/**
 * Creates an object and shows it. With `--if-absent`, shows an existing object instead. Refuses
 * with `exists_differently` if its settings differ from the given ones.
 */
export async function make<View extends object>(
  call: Call,
  operation: Runs<View>,
  making: Making<View>,
): Promise<Made<View>> {
  const { input = call.input } = making;
  const { ifAbsent, dryRun } = call.flags;
  const existing = async (find = making.find): Promise<View | undefined> => {
    const given = onlyGiven(parse(operation.input, input), input);
    const found = await find(given);
    if (found !== undefined) requireSame(call, making.has?.(found, given) ?? {}, given);
    return found;
  };
  const { repeats } = making;
  const first = repeats === true ? making.find : repeats;
  const found = ifAbsent && first !== undefined ? await existing(first) : undefined;
  if (found !== undefined) return tellExisting(call, making, found);
  try {
    const run = dryRun ? call.rehearse : call.operate;
    const view = await run(operation, input);
    tellMade(call, making, ifAbsent ? { ...view, created: true } : view);
    return { view, made: !dryRun };
  } catch (error) {
    if (!ifAbsent || !(error instanceof Refusal) || error.kind !== 'conflict') throw error;
    const there = await existing();
    if (there === undefined) throw error;
    return tellExisting(call, making, there);
  }
}

interface Renewing<View> {
  fields: Fields<View>;
  input?: Input;
  secret: keyof View;
  /** The question to ask first, for an operation that does not say what it ends. */
  question?: (view: View) => string;
}

/** Runs an operation whose view has a secret, and shows the view. A dry run hides the secret. */
export async function performSecret<View extends object>(
  call: Call,
  operation: Runs<View>,
  { fields, secret, question, input = call.input }: Renewing<View>,
): Promise<void> {
  const { dryRun } = call.flags;
  const { ends } = operation;
  if ((question !== undefined || ends !== undefined) && !dryRun) {
    const view = await call.rehearse(operation, input);
    // `rehearse` has checked this input with the schema of the operation.
    const asked = operation.input.parse(input) as never;
    await call.confirm(
      question?.(view) ??
        sentences([ends?.ask(view, asked) ?? '', ...(ends?.effects?.(view, asked) ?? [])]),
    );
  }
  const run = dryRun ? call.rehearse : call.operate;
  tellMade(call, { fields, secret }, await run(operation, input));
}

function tellMade<View extends object>(
  call: Call,
  { fields, secret, hides = [], advice }: Omit<Making<View>, 'find'>,
  view: View,
): void {
  if (call.flags.dryRun) {
    call.note('Dry run: nothing was changed.');
    const hidden = secret === undefined ? [] : [secret, ...hides].map((name) => [name, null]);
    call.show({ ...view, ...Object.fromEntries(hidden) }, fields);
  } else if (secret === undefined) call.show(view, fields);
  else call.showSecret(view, fields, (shown) => String(shown[secret]), advice);
}

function tellExisting<View extends object>(
  call: Call,
  { fields, secret }: Making<View>,
  view: View,
): Made<View> {
  const { json, quiet } = call.flags;
  // With --quiet, a script expects only the secret. For an existing object, nothing is printed.
  if (json || !quiet || secret === undefined) call.show({ ...view, created: false }, fields);
  call.note('The object already exists. Nothing was changed.');
  return { view, made: false };
}

/** The checked fields that the user typed, without defaults. */
function onlyGiven(parsed: object, input: Input): Input {
  return Object.fromEntries(Object.entries(parsed).filter(([name]) => input[name] !== undefined));
}

function requireSame({ typed }: Call, has: Input, given: Input): void {
  const differs = Object.entries(has)
    .filter(([field, is]) => field in given && !isSame(is, given[field]))
    .map(([field, is]) => ({ field, is, given: given[field] }));
  if (differs.length === 0) return;
  const told = differs.map(
    (one) => `${typed(one.field)} is ${JSON.stringify(one.is)}, not ${JSON.stringify(one.given)}`,
  );
  throw new Refusal('exists_differently', `The object already exists, but ${told.join('; ')}.`, {
    hint: 'Change the existing object first, or give the settings that it has.',
    extra: { differs },
  });
}

/** Compares two values; the order of a list does not matter. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return isDeepStrictEqual(new Set(one), new Set(other));
}

/** The slug of the new object: as given, or derived from its name. */
export async function slugOfGiven({ slug, name }: Input): Promise<string> {
  const { slugOf } = await import('../services/foundation/fields.ts');
  return typeof slug === 'string' ? slug : slugOf(String(name));
}

/** Returns the view, or undefined if the object does not exist. */
export async function ifFound<View>(reading: Promise<View>): Promise<View | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return undefined;
    throw error;
  }
}
