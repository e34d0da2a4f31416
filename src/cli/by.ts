import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { Runs } from './run.ts';

/** Turns a service function into an operation with the schema of its input. */
export function by<
  Schema extends z.ZodType,
  Service extends (ctx: Context, input: z.output<Schema>) => Promise<unknown>,
>(input: Schema, service: Service): Runs<Schema, Awaited<ReturnType<Service>>> {
  const run = (ctx: Context, given: z.output<Schema>) => service(ctx, given);
  // The compiler cannot infer the answer's type from the function's type.
  return Object.assign(run, { input }) as Runs<Schema, Awaited<ReturnType<Service>>>;
}
