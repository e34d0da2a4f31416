import { z } from 'zod';
import { assertionInput, type GivenAssertion } from '../../services/people/passkeys/assertion.ts';
import { type Html, html } from './html.ts';
import type { Visit } from './page.ts';
import { postForm } from './parts.ts';

// Forms that the script sends. Their field `passkey` carries the answer of the authenticator.

/** The passkey request of a form. `options` are in the page, or the script gets them from `ask`. */
interface Asking {
  make?: true;
  options?: object;
  ask?: string;
  button: string;
  look?: 'plain';
  /** The selector of the field where the browser offers passkeys. */
  autofill?: string;
  /** The other fields may stay empty if the person uses a passkey. */
  alone?: true;
}

/** The attributes that carry the passkey request to the script. */
export function passkeyAsked({ make, options, ask, button, look, autofill, alone }: Asking): Html {
  const given = options === undefined ? undefined : JSON.stringify(options);
  return html` data-passkey="${make ? 'create' : 'get'}" data-button="${button}"${
    given && html` data-options="${given}"`
  }${ask && html` data-ask="${ask}"`}${look && html` data-look="${look}"`}${
    autofill && html` data-autofill="${autofill}"`
  }${alone && html` data-alone`}`;
}

/** The hidden field that the script fills with the answer. */
export const answerField = html`<input type="hidden" name="passkey">`;

/** A hidden form. The script shows it and adds its button. */
export function passkeyForm(
  draft: Pick<Visit, 'token'>,
  action: string,
  of: Asking,
  along: Record<string, string | undefined> = {},
): Html {
  return postForm(draft, action, answerField, along, html`${passkeyAsked(of)} hidden`);
}

/** The schema of the field that the script fills with JSON. */
export function answered<Schema extends z.ZodType>(schema: Schema) {
  return jsonField(schema, 'must be the answer of a passkey');
}

/** The schema of a hidden field with JSON. */
export function jsonField<Schema extends z.ZodType>(schema: Schema, message: string) {
  return z
    .string()
    .max(60_000)
    .transform((text, ctx): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        ctx.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** The schema of the optional answer of an existing passkey. */
export const passkeyAnswer: z.ZodType<GivenAssertion | undefined> =
  answered(assertionInput).optional();
