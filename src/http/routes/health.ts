import { z } from 'zod';
import { route } from '../route.ts';

const input = z.strictObject({});

/** Health checks for a supervisor: whether the process answers, and whether it is ready. */
export const healthRoutes = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process answers',
    access: 'public',
    input,
    output: z.strictObject({ status: z.literal('ok') }),
    run: () => ({ status: 'ok' as const }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether database, migrations and keys are ready',
    access: 'public',
    input,
    output: z.strictObject({ status: z.literal('ready'), writable: z.boolean() }),
    run: async (ctx) => {
      const { writable } = await ctx.ready();
      return { status: 'ready' as const, writable };
    },
  }),
];
