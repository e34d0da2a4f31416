import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { type CookieChange, type CookieName, shownCookie } from '../cookies.ts';

// If a person reloads the answer to a form, the browser sends the form again. A cookie has the marks
// of the last forms whose answer showed a secret, so that a reload does not create another one.

interface Sent {
  cookie: (name: CookieName) => string | undefined;
  /** The mark of the form. */
  sent: string;
}

const maxMarks = 5;

/** A mark of what the browser sent. Only a reload sends the same again, because of the form token. */
export function markSent(ctx: Context, path: string, fields: Record<string, unknown>): string {
  const sum = createHmac('sha256', ctx.keyring.derive('sent form'));
  return sum
    .update(JSON.stringify([path, fields]))
    .digest('base64url')
    .slice(0, 22);
}

/** Whether the answer to this form has shown a secret in this browser. */
export function isSentAgain(form: Sent): boolean {
  return marksOf(form).includes(form.sent);
}

/** Refuses with `already_exists` if the form is sent again. */
export function refuseSentAgain(form: Sent): void {
  if (!isSentAgain(form)) return;
  throw new Refusal('already_exists', 'This form was already sent, so nothing new was created.', {
    hint: 'What it showed is not shown again. If you did not store it, you need a new one.',
  });
}

/** The cookie after the answer to this form has shown a secret. */
export function rememberShown(form: Sent): CookieChange {
  return shownCookie([form.sent, ...marksOf(form)].slice(0, maxMarks).join('.'));
}

const marksOf = ({ cookie }: Sent) => (cookie('shown_once') ?? '').split('.');
