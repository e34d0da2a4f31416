import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireOperator, requireUser } from '../../foundation/authority/require.ts';
import type { OwnRight } from '../../foundation/authority/table.ts';
import type { Ending } from '../../foundation/ending.ts';
import { userRef } from '../../foundation/fields.ts';
import { requireAccount } from './account.ts';

/** The account that the operator names, by id or address. */
interface Named {
  user?: string | undefined;
}

interface Holder {
  accountId: string;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodType, View, Whose> {
  authority: OwnRight;
  /** The fields that a person sends. The operator sends `user` too. */
  input: Input;
  output?: Output;
  /** What it ends, for an operation that people confirm. */
  ends?: Ending<View, z.output<Input>>;
  run: (ctx: Context, input: z.output<Input>, whose: Whose) => Promise<View>;
}

/** An operation on a person's own data; with `forOperator` the operator names the account. */
interface OwnOperation<Input extends z.ZodObject, Output extends z.ZodType, View> {
  (ctx: Context, input: z.output<Input> & Named): Promise<View>;
  readonly authority: OwnRight;
  readonly input: Input;
  readonly output: Output | undefined;
  readonly ends?: Ending<View, z.output<Input>>;
  readonly forOperator: {
    (ctx: Context, input: z.output<Input> & Named): Promise<View>;
    readonly input: z.ZodType<z.output<Input> & Named>;
    readonly output: Output | undefined;
    readonly ends?: Ending<View, z.output<Input>>;
    /** The operation that a person runs on their own data. */
    readonly forPeople: object;
  };
}

/** Creates an operation on the caller's own data; the operator must name the account. */
export function ownOperation<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(definition: Definition<Input, Output, View, Holder>): OwnOperation<Input, Output, View> {
  const whose = (ctx: Context, user: string | undefined) =>
    requireHolder(ctx, definition.authority, user);
  return made(definition, definition.input.extend({ user: userRef }), whose);
}

/** Like `ownOperation`, for one item by its id; the operator may leave the account out. */
export function ownOperationById<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(definition: Definition<Input, Output, View, Partial<Holder>>): OwnOperation<Input, Output, View> {
  const whose = async (ctx: Context, user: string | undefined): Promise<Partial<Holder>> => {
    const any = ctx.actor.kind === 'operator' && user === undefined;
    return any ? {} : requireHolder(ctx, definition.authority, user);
  };
  return made(definition, definition.input.extend({ user: userRef.optional() }), whose);
}

function made<Input extends z.ZodObject, Output extends z.ZodType, View, Whose>(
  { authority, input, output, ends, run }: Definition<Input, Output, View, Whose>,
  extended: z.ZodType,
  whose: (ctx: Context, user: string | undefined) => Promise<Whose>,
): OwnOperation<Input, Output, View> {
  const perform = async (ctx: Context, given: z.output<Input> & Named) =>
    run(ctx, given, await whose(ctx, given.user));
  const forOperator = Object.assign(perform.bind(null), {
    // The compiler cannot infer the type of an extended schema that it does not know.
    input: extended as z.ZodType<z.output<Input> & Named>,
    output,
    ...(ends && { ends }),
    forPeople: perform,
  });
  return Object.assign(perform, { authority, input, output, ...(ends && { ends }), forOperator });
}

async function requireHolder(
  ctx: Context,
  right: OwnRight,
  user: string | undefined,
): Promise<Holder> {
  if (user === undefined) return { accountId: requireUser(ctx, right).accountId };
  requireOperator(ctx);
  return { accountId: (await requireAccount(user)).id };
}
