import { html } from './html.ts';
import type { ShownPage } from './page.ts';

/** A page with a secret that is not stored and cannot be shown again. */
export function shownOnce(
  title: string,
  { of, secret, back }: { of: string; secret: string; back: string },
): ShownPage {
  return {
    title,
    once: true,
    main: html`<h1>${title}</h1>
<p>This is the value of <strong>${of}</strong>. Copy it now: it is not shown again.</p>
<p><code class="secret">${secret}</code></p>
<p><a class="button" href="${back}">I have copied it</a></p>`,
  };
}
