import { z } from 'zod';
import { requireMasterKey } from '../../services/foundation/keys/open.ts';
import { routeTo } from '../route.ts';

const input = z.strictObject({});

/** Health checks for a supervisor: whether the process answers, and whether it is ready. */
export const healthRoutes = [
  routeTo('public', 'GET', '/healthz', {
    summary: 'Whether the process answers',
    input,
    output: z.strictObject({ status: z.literal('ok') }),
    run: () => ({ status: 'ok' as const }),
  }),
  routeTo('public', 'GET', '/readyz', {
    summary:
      'Whether the database answers and has all migrations, the daemon has its master key, and writes succeed',
    input,
    output: z.strictObject({ status: z.literal('ready'), writable: z.boolean() }),
    run: async (ctx) => {
      const { writable } = await ctx.ready();
      await requireMasterKey(ctx);
      return { status: 'ready' as const, writable };
    },
  }),
];
