import { type Html, html } from '../html.ts';
import { postForm } from '../parts.ts';
import { type Draft, type Me, section } from './section.ts';

/** The organizations that the person belongs to, and the projects in them. */
export function organizationsSection(draft: Draft, me: Me): Html {
  return section(draft, 'organizations', listed(draft, me));
}

function listed(draft: Draft, { organizations }: Me): Html {
  if (organizations.length === 0) return html`<p class="quiet">You belong to no organization.</p>`;
  return html`<ul class="rows">${organizations.map(({ id, name, role, projects }) => {
    const roles = projects.map((project) => `${project.slug} (${project.role})`).join(', ');
    return html`<li><div><strong>${name}</strong> <span class="badge">${role}</span>
${roles !== '' && html`<p class="quiet">Projects: ${roles}</p>`}
${leaving(draft, id)}</div></li>`;
  })}</ul>`;
}

function leaving(draft: Draft, org: string): Html {
  const button = html`<button class="small danger" type="submit">Leave organization</button>`;
  return html`<details><summary>Leave</summary><p class="quiet">You lose access to it and its projects at once. Only an admin of it can add you again. If you sign in through it, you are signed out.</p>
${postForm(draft, '/account/organizations/leave#organizations', button, { org })}</details>`;
}
