import { type Html, html } from '../html.ts';
import { type Draft, type Me, section } from './section.ts';

/** The organizations that the person belongs to, and the projects in them. */
export function organizationsSection(draft: Draft, me: Me): Html {
  return section(draft, 'organizations', listed(me));
}

function listed({ organizations }: Me): Html {
  if (organizations.length === 0) return html`<p class="quiet">You belong to no organization.</p>`;
  return html`<ul class="rows">${organizations.map(({ name, role, projects }) => {
    const roles = projects.map((project) => `${project.slug} (${project.role})`).join(', ');
    return html`<li><div><strong>${name}</strong> <span class="badge">${role}</span>
${roles !== '' && html`<p class="quiet">Projects: ${roles}</p>`}</div></li>`;
  })}</ul>`;
}
