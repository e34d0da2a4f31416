import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { refreshSession } from '../people/sessions/operations.ts';
import type { resumeInput } from '../people/sessions/schema.ts';

/** The URL after a sign-in: a path here, or a URL on a configured origin (security S7). */
export function requireReturnTo(ctx: Context, returnTo: string | undefined): string {
  if (returnTo === undefined) return '/';
  const { baseUrl, http } = ctx.config;
  const target = URL.canParse(returnTo, baseUrl) ? new URL(returnTo, baseUrl) : null;
  if (
    target !== null &&
    isPath(returnTo) &&
    isPath(target.pathname) &&
    target.origin === new URL(baseUrl).origin
  ) {
    return target.pathname + target.search + target.hash;
  }
  // Not `target.origin`: for `blob:https://host/…` it is the origin of that host.
  const place = `${target?.protocol}//${target?.host}`;
  const allowed = http.returnToOrigins.some((origin) => new URL(origin).origin === place);
  if (target !== null && allowed && target.username === '' && target.password === '')
    return target.href;
  // Employees must not see a configuration key; the operator finds it in this log.
  if (target !== null && target.origin !== new URL(baseUrl).origin) {
    const host = place.slice(0, 300);
    ctx.log.warn({ host, reason: 'not in http.returnToOrigins' }, 'returnTo refused');
  }
  throw refuseField('returnTo', 'is not known here', 'Ask its administrator.');
}

/** Whether the text is a path, not a host such as `//host`. `URL` turns `/.//host` into one. */
function isPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}

/** Refreshes the session for a page without script, and returns the URL to go back to. */
export async function resumeSession(ctx: Context, input: z.output<typeof resumeInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  return { ...(await refreshSession(ctx, input)), returnTo };
}

/**
 * Like `resumeSession`. An authorization or sign-out request with `again=1` returns even without a
 * session, because that request then answers the application itself.
 */
export async function resumeOrReturn(ctx: Context, input: z.output<typeof resumeInput>) {
  try {
    return await resumeSession(ctx, input);
  } catch (error) {
    const isMarked = /^\/oauth\/(authorize(\/[\w-]+)?|logout)\?(.*&)?again=1$/.test(
      input.returnTo ?? '',
    );
    if (!isMarked || !(error instanceof Refusal) || error.kind !== 'unauthenticated') throw error;
    return { returnTo: requireReturnTo(ctx, input.returnTo) };
  }
}
