import qr from 'qrcode-terminal';
import { type Html, html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import type { ShownPage } from '../page.ts';
import { alert, codeField, postForm, recoveryChoice, recoveryField } from '../parts.ts';
import { type Described, type Draft, type Me, section } from './section.ts';

/** The section that shows whether and when a second factor is required, and how to change that. */
export function twoFactorSection(
  draft: Draft,
  { twoFactorEnabled }: Me,
  { singleSignOn, totp, recoveryCodes }: Described,
): Html {
  const words = twoFactorEnabled ? byPasskeyWords : offWords;
  const content = html`${totp ? onWords : words}
<ul class="facts quiet">
<li>Required when you sign in with a password, a code by mail, a directory, Google or GitHub.</li>
${singleSignOn.map(
  ({ organization, asksHere }) =>
    html`<li>Single sign-on of ${organization}: ${asksHere ? 'required here too' : 'not required here; the provider decides'}.</li>`,
)}
</ul>
${totp ? turnOff(draft, recoveryCodes.remaining > 0) : turnOn(draft)}`;
  return section(draft, 'two-factor', content);
}

const onWords = html`<p><strong>On.</strong> You need a code from your authenticator app to sign in.</p>`;
const byPasskeyWords = html`<p><strong>On.</strong> You need a passkey to sign in. You can set up an authenticator app too.</p>`;
const offWords = html`<p><strong>Off.</strong> With an authenticator app on your phone, your password alone is not enough to sign in. You also get recovery codes, in case you lose the phone.</p>`;

function turnOn(draft: Draft): Html {
  return postForm(
    draft,
    '/account/two-factor',
    html`<button type="submit">Set up an authenticator</button>`,
  );
}

function turnOff(draft: Draft, hasCodes: boolean): Html {
  const also =
    hasCodes &&
    recoveryChoice(draft, recoveryField(draft, { id: 'disable-recovery-code', oneOf: true }));
  const content = html`${codeField(draft, 'code', { id: 'disable-code', note: `The code that your authenticator app shows now${hasCodes ? ', or use a recovery code below' : ''}.`, first: false, ...(hasCodes && { oneOf: true }) })}
${also}
<button class="danger" type="submit">Turn off</button>`;
  return html`<details${draft.refusal && html` open`}><summary>Turn it off</summary>${postForm(draft, '/account/two-factor/disable#two-factor', content)}</details>`;
}

/** Shows the secret for the authenticator once, and asks for the code that confirms it. */
export function enrolment(draft: Draft, secret: { secret: string; otpauthUri: string }): ShownPage {
  return asEnrolment(html`<p>Scan this with an authenticator app:</p>
${drawQr(secret.otpauthUri, 'QR code with the secret for your authenticator app')}
<p>Or type the secret into it: <code class="secret">${grouped(secret.secret)}</code></p>
<p class="quiet">Once you turn it on, your password alone is not enough to sign in. If you have no recovery codes yet, you then get some.</p>
${confirmation(draft)}`);
}

/** Asks for the code again, without the secret, which the app has already. */
export function confirmAgain(draft: Draft): ShownPage {
  return asEnrolment(
    html`${alert(draft)}
${confirmation(draft)}`,
    postForm(
      draft,
      '/account/two-factor',
      html`<button class="link" type="submit">Start again with a new secret</button>`,
    ),
  );
}

function asEnrolment(content: Html, again?: Html): ShownPage {
  return {
    title: 'Set up an authenticator',
    main: html`<h1>Set up an authenticator</h1>
${content}
${otherLinks(...(again === undefined ? [] : [again]), html`<a href="/">Not now</a>`)}`,
  };
}

function confirmation(draft: Draft): Html {
  const content = html`${codeField(draft, 'code', { label: 'Six-digit code from the app' })}
<button type="submit">Turn on</button>`;
  return postForm(draft, '/account/two-factor/confirm#recovery-codes', content);
}

function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}

// The library draws for terminals: each character is two modules, one above the other. A lit half
// is white.
const upperLit = new Set(['█', '▀']);
const lowerLit = new Set(['█', '▄']);

/** The modules of a QR code with its quiet zone of one module, row by row; true is dark. */
export function qrModules(text: string): boolean[][] {
  let drawn = '';
  qr.generate(text, { small: true }, (art) => {
    drawn = art;
  });
  const lines = drawn.split('\n').filter((line) => line !== '');
  const rows = lines.flatMap((line) => [
    [...line].map((sign) => !upperLit.has(sign)),
    [...line].map((sign) => !lowerLit.has(sign)),
  ]);
  // Remove the library's frame: one row at the top, and everything beyond the width.
  const width = (lines[1] ?? '').length;
  return rows.slice(1, width + 1).map((row) => row.slice(0, width));
}

/** Draws a QR code as SVG in the page, so that no image request contains the secret. */
function drawQr(text: string, description: string): Html {
  const modules = qrModules(text);
  const size = modules.length + 6;
  const dark = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + 3} ${y + 3}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" role="img" aria-label="${description}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${dark.join('')}" fill="#000"/></svg>`;
}
