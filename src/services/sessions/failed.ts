import { Refusal } from '../../errors.ts';

/**
 * The one answer to every sign-in that does not succeed (security P7): the same words whatever was
 * wrong. The reason travels in the cause, for the log and the event alone.
 */
export function signInFailed(reason: string, cause?: unknown): Refusal {
  return new Refusal('signin_failed', 'The sign-in did not succeed.', {
    hint: 'Check what you entered. If you have just signed up, confirm your address first. Or ask your administrator.',
    cause: { reason, cause },
  });
}

/**
 * The refusal of somebody who has proved to be the account, and whose address nobody has proved yet (security P11). A
 * password does not prove it: strangers sign up with any address, and get `signInFailed`.
 */
export function emailUnverified(): Refusal {
  return new Refusal('email_unverified', 'Your e-mail address is not confirmed yet.', {
    hint: 'Enter the code that was mailed to you, or ask for another one.',
  });
}
