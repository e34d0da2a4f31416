import { z } from 'zod';
import { assertionInput, type GivenAssertion } from '../../services/people/passkeys/assertion.ts';
import { type Html, html } from './html.ts';
import type { Visit } from './page.ts';
import { postForm } from './parts.ts';

// The forms that the script sends, with the answer of a passkey in the field `passkey`.

/** How a form asks for a passkey: by options of the page, or by an address that gives them. */
interface Asking {
  make?: true;
  options?: object;
  ask?: string;
  button: string;
  look?: 'plain';
  /** The field where the browser offers passkeys, as a selector. */
  autofill?: string;
  /** The passkey answers in place of the other fields. */
  alone?: true;
}

/** The attributes that tell the script what to ask for. */
export function passkeyAsked({ make, options, ask, button, look, autofill, alone }: Asking): Html {
  const given = options === undefined ? undefined : JSON.stringify(options);
  return html` data-passkey="${make ? 'create' : 'get'}" data-button="${button}"${
    given && html` data-options="${given}"`
  }${ask && html` data-ask="${ask}"`}${look && html` data-look="${look}"`}${
    autofill && html` data-autofill="${autofill}"`
  }${alone && html` data-alone`}`;
}

/** The empty field for the answer. */
export const answerField = html`<input type="hidden" name="passkey">`;

/** A form that only the script shows, with its button alone. */
export function passkeyForm(
  draft: Pick<Visit, 'token'>,
  action: string,
  of: Asking,
  along: Record<string, string | undefined> = {},
): Html {
  return postForm(draft, action, answerField, along, html`${passkeyAsked(of)} hidden`);
}

/** A field with the answer of a passkey, as the script writes it. */
export function answered<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .max(60_000)
    .transform((text, ctx): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        ctx.addIssue({ code: 'custom', message: 'must be the answer of a passkey' });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** The answer of a passkey that the person has. */
export const passkeyAnswer: z.ZodType<GivenAssertion | undefined> =
  answered(assertionInput).optional();
