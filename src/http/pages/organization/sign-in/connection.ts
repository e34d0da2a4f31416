import { connectionKinds } from '../../../../connection-kinds.ts';
import type { Step } from '../../../../finding.ts';
import { sentencesFor } from '../../../../next.ts';
import { type Html, html } from '../../html.ts';
import { linksFor } from '../../next.ts';
import type { Visit } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { badge, button, endingLink, rows } from '../../rows.ts';
import { isBehindLink } from './path.ts';

// The shared parts of the pages of a connection to a provider or a directory.

/** A test of a connection: whether it passed, and its steps. */
export interface Examined {
  ok: boolean;
  message: string;
  steps: Step[];
}

/** The state of a connection, and the buttons that test it and switch it on or off. */
export function stateSection(
  visit: Visit,
  kind: 'sso' | 'ldap',
  { enabled, approved }: { enabled: boolean; approved: boolean },
  at: string,
): Html {
  const { server } = connectionKinds[kind];
  const mayEnd = !isBehindLink(visit);
  const waits =
    !approved &&
    html`<p>An owner has to approve this connection. Until then, owners cannot sign in through it. Owners find it on ${mayEnd ? html`<a href="/#connections">their account page</a>` : 'their account page'}.</p>`;
  const on = enabled
    ? mayEnd && endingLink(`${at}/disable`, 'Switch off')
    : button(visit, `${at}/enable`, 'Switch on');
  return html`<section aria-labelledby="state"><h2 id="state">State ${badge(enabled ? 'on' : 'off')}</h2>
${waits}
<p class="quiet">${enabled ? `People sign in through this ${server}.` : `No one signs in through this ${server} yet. Test it, then switch it on.`}${!enabled && !mayEnd && ' First check all settings: while it is on, only an admin can switch it off, and change its groups.'}</p>
<div class="buttons">${button(visit, `${at}/test`, 'Test')}${on}${mayEnd && endingLink(`${at}/remove`, 'Remove')}</div></section>`;
}

/** After a failed test of settings that a form would have saved. */
export const notSaved = html`<p>Nothing was saved. Correct the values below, and enter the secret again.</p>`;

/** What a test found, step by step. */
export function examinedSection(
  visit: Visit,
  { ok, message, steps }: Examined,
  further?: Html | '',
): Html {
  const shown = steps.map(({ name, ok: passed, skipped, expected, seen, hint }) => {
    const facts = [sentencesFor(hint) ?? ''];
    if (passed && skipped) return { name, mark: badge('not checked'), facts };
    if (passed && hint !== undefined)
      return { name, mark: badge('open'), text: `It ${seen}.`, facts };
    if (passed) return { name, mark: badge('ok') };
    const links = linksFor(hint, visit.ctx.actor);
    return {
      name,
      mark: badge('failed'),
      text: `Expected: ${expected}. Found: ${seen}.`,
      facts,
      more: html`${links.map(({ href, text }) => html`<p><a href="${href}">${text}</a></p>`)}`,
    };
  });
  return html`<section aria-labelledby="test"><h2 id="test">Test</h2>
<p><strong>${ok ? 'All checks passed.' : message}</strong></p>
${rows(shown)}
${further}</section>`;
}

/** The button that saves although the test failed. */
export function saveAnywayButton(visit: Visit): Html | false {
  if (isBehindLink(visit)) return false;
  return html`<button class="plain" type="submit" name="untested" value="true">Save anyway</button>`;
}

/** The form that switches a connection on although its test failed. */
export function anywayForm(visit: Visit, action: string): Html {
  const content = html`<p>If you switch it on now, people may be unable to sign in.</p>
<button type="submit">Switch on anyway</button>`;
  return postForm(visit, action, content, { untested: 'true' });
}
