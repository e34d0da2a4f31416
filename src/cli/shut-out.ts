import type { z } from 'zod';
import type { Context } from '../context.ts';
import { by } from './by.ts';
import type { Call, Runs } from './run.ts';

type OrganizationSchema = z.ZodType<{ org: string }>;

/**
 * A sentence that names the owners if the command leaves no owner a way to sign in; else null. A
 * dry run prints it.
 */
export async function shutOutBy<S extends OrganizationSchema>(
  call: Call,
  operation: Runs<S, unknown>,
): Promise<string | null> {
  const { findShutOut } = await import('../services/signin/shut-out.ts');
  const find = (ctx: Context, input: z.output<S>) => findShutOut(ctx, input, operation);
  const { slug, owners } = await call.rehearse(by(operation.input, find));
  if (owners.length === 0) return null;
  const told = `Then no owner of ${slug} can sign in: ${owners.join(', ')}.`;
  if (call.flags.dryRun) call.note(told);
  return told;
}

/** Asks before a command that would leave no owner a way to sign in. */
export async function agreeToShutOut<S extends OrganizationSchema>(
  call: Call,
  operation: Runs<S, unknown>,
): Promise<void> {
  const told = await shutOutBy(call, operation);
  if (told !== null && !call.flags.dryRun) await call.confirm(`${told} Continue?`);
}
