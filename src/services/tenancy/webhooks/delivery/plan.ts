import { isTaken, type Outcome } from '../webhook.ts';

// Decides, without side effects, what follows from one attempt.

/** Seconds until the next attempt, by the number of attempts so far (interface page). */
const waits = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/**
 * If idctl gives up a delivery, and the webhook has not accepted anything for this long, the
 * webhook is disabled.
 */
const patienceSeconds = 72 * 3600;

/** Statuses that mean the webhook as a whole cannot accept messages now. */
const absent = new Set([429, 502, 503, 504]);

interface Tried {
  /** The number of earlier attempts. */
  attempts: number;
  failingSince: Date | null;
  now: Date;
  /** From 0 to 1: spreads out the next attempts of deliveries that failed together. */
  jitter: number;
}

/** The changes to write to a delivery and its webhook. */
export interface DeliveryPlan {
  delivery: {
    status: 'waiting' | 'delivered' | 'dead';
    attempts: number;
    nextAt: Date | null;
    endedAt: Date | null;
    responseStatus: number | null;
    error: string | null;
  };
  webhook: { failingSince: Date | null; pausedUntil: Date | null; enabled?: false };
  disabled: 'gone' | 'failing' | null;
}

/**
 * Decides what one attempt means. After most refusals, only this message waits. Without an answer,
 * or after a redirect, 429, 502, 503 or 504, all messages wait. 410 disables the webhook.
 */
export function planAfter(outcome: Outcome, tried: Tried): DeliveryPlan {
  const { now, jitter } = tried;
  const attempts = tried.attempts + 1;
  const seen = { attempts, responseStatus: outcome.status, error: errorOf(outcome) };
  const ended = { ...seen, nextAt: null, endedAt: now };
  if (isTaken(outcome)) {
    const webhook = { failingSince: null, pausedUntil: null };
    return { delivery: { ...ended, status: 'delivered' }, webhook, disabled: null };
  }
  const failingSince = tried.failingSince ?? now;
  const wait = waits[attempts - 1];
  if (outcome.status !== 410 && wait !== undefined) {
    const nextAt = new Date(now.getTime() + wait * (1 + jitter / 10) * 1000);
    const pausedUntil = isAnswer(outcome) ? null : nextAt;
    const delivery = { ...seen, nextAt, endedAt: null, status: 'waiting' as const };
    return { delivery, webhook: { failingSince, pausedUntil }, disabled: null };
  }
  const disabled = whyDisabled(outcome, failingSince, now);
  return {
    delivery: { ...ended, status: 'dead' },
    webhook: { failingSince, pausedUntil: null, ...(disabled === null ? {} : { enabled: false }) },
    disabled,
  };
}

function whyDisabled(outcome: Outcome, failingSince: Date, now: Date): DeliveryPlan['disabled'] {
  if (outcome.status === 410) return 'gone';
  return now.getTime() - failingSince.getTime() >= patienceSeconds * 1000 ? 'failing' : null;
}

/** Whether the failure concerns this message only. */
function isAnswer({ status }: Outcome): boolean {
  return status !== null && !isRedirect(status) && !absent.has(status);
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function errorOf(outcome: Outcome): string | null {
  if (outcome.status === null) return outcome.error;
  if (isTaken(outcome)) return null;
  const redirected = isRedirect(outcome.status) ? ', a redirect, which is not followed' : '';
  return `The webhook answered ${outcome.status}${redirected}.`;
}
