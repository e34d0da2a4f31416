import { Refusal } from '../../errors.ts';

/**
 * The one answer to every sign-in that does not succeed (security P7): the same words whatever was
 * wrong. The reason travels in the cause, for the log and the event alone.
 */
export function signInFailed(reason: string, cause?: unknown): Refusal {
  return new Refusal('signin_failed', 'The sign-in did not succeed.', {
    hint: 'Check what you entered, or ask your administrator.',
    cause: { reason, cause },
  });
}

/**
 * The refusal of somebody who has proved to be the account, whose address nobody has proved yet (security P11); with the
 * ticket of the password, if that is what they gave.
 */
export function emailUnverified(ticket?: string): Refusal {
  return new Refusal('email_unverified', 'Your e-mail address is not confirmed yet.', {
    hint: 'Enter the code that was mailed to you, or ask for another one.',
    ...(ticket === undefined ? {} : { continuation: ticket }),
  });
}
