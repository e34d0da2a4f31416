import { samlRefused } from './refusal.ts';

/** How much the provider's clock may differ from ours (security S11). */
export const skew = 60_000;

const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** The instant of an attribute, or null without one. Refuses any other form. */
export function instantOf(text: string | null): Date | null {
  if (text === null) return null;
  const instant = form.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(instant.getTime())) throw samlRefused('assertion', 'time_malformed');
  return instant;
}

/** Refuses an instant outside of the period, by more than the clocks may differ. */
export function checkPeriod({ from, until }: Period, now: Date): void {
  if (from !== null && now.getTime() + skew < from.getTime())
    throw samlRefused('assertion', 'not_yet_valid');
  if (until !== null && now.getTime() - skew >= until.getTime())
    throw samlRefused('assertion', 'expired');
}

interface Period {
  from: Date | null;
  until: Date | null;
}
