import { parse } from '../../../../input.ts';
import { isAllowed } from '../../../../services/foundation/authority/require.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import {
  createProject,
  deleteProject,
  listProjects,
} from '../../../../services/tenancy/projects/operations.ts';
import { counted } from '../../../../text/words.ts';
import { endingPages } from '../../ending.ts';
import { type Html, html } from '../../html.ts';
import { operationForm, type Page, type ShownPage, type Visit, viewPage } from '../../page.ts';
import { field, postForm } from '../../parts.ts';
import { badge, pageLinks, rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';

/** The page with the projects of an organization. */
export const path = '/orgs/:org/projects';

type Listed = Awaited<ReturnType<typeof listProjects>>;

const pathOf = (org: string) => `/orgs/${encodeURIComponent(org)}/projects`;

/** The pages on which projects are seen, created and deleted. */
export const projectListPages: Page[] = [
  viewPage(path, listProjects, (visit, view, { org }) => showProjects(visit, view, org)),
  operationForm(path, createProject, {
    reply: (visit, { slug }, { org }) => goTo(visit, `${pathOf(org)}/${slug}`, 'project-created'),
    refused: async (visit) => {
      const asked = parse(listProjects.input, { org: visit.given['org'] });
      return showProjects(visit, await listProjects(visit.ctx, asked), asked.org);
    },
  }),
  ...endingPages(`${path}/:project/delete`, deleteProject, {
    act: 'Delete project',
    back: `${path}/:project`,
    reply: (visit) => goTo(visit, pathOf(visit.given['org'] ?? ''), 'project-deleted'),
  }),
];

async function showProjects(
  visit: Visit,
  { items, nextCursor }: Listed,
  org: string,
): Promise<ShownPage> {
  const { slug, name, role: own = 'member' } = await showOrganization(visit.ctx, { org });
  const at = pathOf(slug);
  const shown = items.map(({ slug: project, name: title, role, members }) => ({
    name: title,
    href: `${at}/${project}`,
    mark: role && badge(role),
    facts: [`${project} · ${counted(members, 'member')}`],
  }));
  const none = isAllowed(own, 'projects.seeAll')
    ? 'There is no project.'
    : 'You are not in a project of this organization.';
  return sheet(
    visit,
    `Projects of ${name}`,
    html`<section aria-label="Projects">${rows(shown, none)}</section>
${pageLinks(at, {}, { nextCursor, previousCursor: null })}
${isAllowed(own, 'projects.change') && createSection(visit, at)}`,
  );
}

function createSection(visit: Visit, at: string): Html {
  const note = 'The name in addresses. It stays as it is. If it is empty, it comes from the name.';
  const content = html`${field(visit, { name: 'name', label: 'Name', autocomplete: 'off', maxLength: 200 })}
${field(visit, { name: 'slug', label: 'Short name', note, autocomplete: 'off', verbatim: true, maxLength: 60, optional: true })}
<button type="submit">Create project</button>`;
  return html`<section aria-labelledby="create"><h2 id="create">Create a project</h2>
${postForm(visit, at, content)}</section>`;
}
