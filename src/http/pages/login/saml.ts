import {
  findSamlForm,
  samlFormInput,
  samlFormPath,
} from '../../../services/signin/methods/saml.ts';
import { html } from '../html.ts';
import { page } from '../page.ts';

/** The form that brings a request to a SAML provider which takes requests only by HTTP-POST. */
export const samlFormPage = page({
  path: samlFormPath,
  access: 'public',
  input: samlFormInput,
  show: async ({ ctx }, input) => {
    const { action, fields } = await findSamlForm(ctx, input);
    const inputs = Object.entries(fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    );
    const { origin, hostname } = new URL(action);
    return {
      title: 'Continue to your provider',
      main: html`<h1>Continue to your provider</h1>
<p>You sign in at ${hostname}.</p>
<form method="post" action="${action}">${inputs}<button type="submit">Continue</button></form>`,
      origins: [origin],
    };
  },
});
