import { type Html, html } from '../html.ts';
import { postForm } from '../parts.ts';
import { type Described, type Draft, type Session, section } from './section.ts';
import { ago, methodNames, programOf } from './words.ts';

/** Where the person is signed in. */
export function sessionsSection(draft: Draft, sessions: Session[], more: Described): Html {
  const rows = sessions.toReversed().map((session) => row(draft, session, more.sessions.get(session.id)));
  return section(draft, 'sessions', html`<ul class="rows">${rows}</ul>`);
}

function row(draft: Draft, session: Session, organization: string | undefined): Html {
  const { id, method, current, createdAt, lastSeenAt, address, userAgent } = session;
  const now = draft.ctx.now;
  const end = postForm(
    draft,
    '/account/sessions/end#sessions',
    html`<button class="small" type="submit">End</button>`,
    { id },
  );
  const by = `by ${methodNames[method] ?? method}${organization === undefined ? '' : ` of ${organization}`}`;
  return html`<li>
<div><strong>${programOf(userAgent)}</strong>${current && html` <span class="badge">this one</span>`}
<p class="quiet">${address ?? 'unknown address'} · ${by}, ${ago(now, createdAt)} · last used ${ago(now, lastSeenAt)}</p></div>
${!current && end}
</li>`;
}
