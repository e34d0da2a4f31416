import { type Html, html } from '../html.ts';
import { postForm } from '../parts.ts';
import { type Draft, type Session, section } from './section.ts';
import { ago, methodNames, programOf } from './words.ts';

/** Where the person is signed in. */
export function sessionsSection(draft: Draft, sessions: Session[]): Html {
  const rows = sessions.toReversed().map((session) => row(draft, session));
  return section(draft, 'sessions', html`<ul class="rows">${rows}</ul>`);
}

function row(draft: Draft, session: Session): Html {
  const { id, method, current, createdAt, lastSeenAt, address, userAgent } = session;
  const now = draft.ctx.now;
  const end = postForm(
    draft,
    '/account/sessions/end#sessions',
    html`<button class="small" type="submit">End</button>`,
    { id },
  );
  return html`<li>
<div><strong>${programOf(userAgent)}</strong>${current && html` <span class="badge">this one</span>`}
<p class="quiet">${address ?? 'unknown address'} · by ${methodNames[method] ?? method}, ${ago(now, createdAt)} · last used ${ago(now, lastSeenAt)}</p></div>
${!current && end}
</li>`;
}
