import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { markNotice, noticeOf } from '../marks.ts';
import type { PageReply, ShownPage, Visit } from '../page.ts';
import { alert, notice } from '../parts.ts';
import { button, endingLink } from '../rows.ts';

/** The texts of the notices, which every page of an organization can show. */
const notices = {
  role: 'The role was changed.',
  removed: 'The person was removed.',
  'domain-added': 'The domain was added. It is not verified yet.',
  verified: 'The domain is verified.',
  'domain-removed': 'The domain was removed.',
  'connection-saved': 'The connection was saved.',
  'connection-on': 'The connection is on.',
  'connection-off': 'The connection is off. Sessions that began through it continue.',
  'connection-removed': 'The connection was removed.',
  settings: 'The settings were saved.',
  'setup-link-revoked': 'The setup link was revoked.',
  'project-created': 'The project was created.',
  'project-renamed': 'The project was renamed.',
  'project-deleted': 'The project was deleted.',
  'project-member-added': 'The person was added to the project.',
  'mapping-changed': 'The mapping was changed.',
  'mapping-removed': 'The mapping was removed.',
  'token-revoked': 'The token was revoked. Your directory can no longer connect.',
  renamed: 'The organization was renamed.',
  'webhook-saved': 'The webhook was changed.',
  'webhook-removed': 'The webhook was removed.',
  retried: 'The message is sent again within a few seconds.',
  revoked: 'The invitation was revoked.',
  'client-added': 'The application was added.',
  'client-changed': 'The application was changed.',
  'client-removed': 'The application was removed.',
  'factor-reset':
    'The second factor was removed. The person signs in without it, and can set up a new one.',
};

/** A page of an organization: its heading, what was done or refused, and its content. */
export function sheet(visit: Visit, title: string, content: Html): ShownPage {
  const isBehindLink = visit.ctx.actor.kind === 'setupLink';
  const done = noticeOf(visit, visit.given['done']);
  const text = Object.entries(notices).find(([name]) => name === done)?.[1];
  return {
    title,
    wide: true,
    main: html`<div class="head"><h1>${title}</h1>
${isBehindLink ? endingLink('/setup/done', 'I am done') : button(visit, '/account/sign-out', 'Sign out')}</div>
${notice(text)}${alert(visit)}
${content}`,
  };
}

/** Redirects to a page of an organization, which shows the notice. */
export function goTo(visit: Visit, path: string, done: keyof typeof notices): PageReply {
  return { goTo: `${path}?${new URLSearchParams({ done: markNotice(visit, done) })}` };
}
