import { parse } from '../../../../input.ts';
import { changeMapping } from '../../../../services/provisioning/mappings/change.ts';
import {
  addMapping,
  listMappings,
  removeMapping,
} from '../../../../services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../../../services/provisioning/mappings/preview.ts';
import { whenGiven } from '../../../../services/provisioning/mappings/words.ts';
import { listProjects } from '../../../../services/tenancy/projects/operations.ts';
import { endingPages } from '../../ending.ts';
import { type Html, html } from '../../html.ts';
import {
  accessTo,
  operationForm,
  type Page,
  page,
  type ShownPage,
  type Visit,
} from '../../page.ts';
import { area, choice, field, notice, postForm } from '../../parts.ts';
import { badge, endingLink, pageLinks, rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import { projectRoleOptions } from '../words.ts';
import { backTo } from './overview.ts';
import { path as directory, pathOf as directoryOf } from './path.ts';

const path = `${directory}/mappings`;
const pathOf = (key: { org: string }) => `${directoryOf(key)}/mappings`;

type Listed = Awaited<ReturnType<typeof listMappings>>;
type Preview = Awaited<ReturnType<typeof previewMappings>>;

/** The forms of the page that can be refused. */
type Part = 'project' | 'organization' | 'preview' | 'change';
type Draft = Pick<Visit, 'given' | 'refusal'>;

const emptyDraft: Draft = { given: {} };

const orgRoleOptions = { member: 'Member', admin: 'Admin' };

// Each row has a form, so a page with more would be heavy.
const mappingsOnPage = 25;

/** The pages about the roles that groups give. */
export const mappingPages: Page[] = [
  page({
    path,
    access: accessTo(listMappings),
    input: listMappings.input,
    show: (visit, { cursor }) => showMappings(visit, { cursor }),
  }),
  operationForm(path, addMapping, {
    reply: (visit, view) => showMappings(visit, { said: whenGiven(view) }),
    refused: (visit) => {
      const refused = visit.given['orgRole'] === undefined ? 'project' : 'organization';
      return showMappings(visit, { refused });
    },
  }),
  operationForm(`${path}/:id/change`, changeMapping, {
    reply: (visit) => goTo(visit, pathOf(keyOf(visit)), 'mapping-changed'),
    refused: (visit) => showMappings(visit, { refused: 'change' }),
  }),
  ...endingPages(`${path}/:id/remove`, removeMapping, {
    act: 'Remove mapping',
    back: path,
    reply: (visit) => goTo(visit, pathOf(keyOf(visit)), 'mapping-removed'),
  }),
  operationForm(`${path}/preview`, previewMappings, {
    reply: (visit, preview) => showMappings(visit, { preview }),
    refused: (visit) => showMappings(visit, { refused: 'preview' }),
  }),
];

const keyOf = ({ given }: Visit) => parse(listMappings.input, { org: given['org'] });

interface Shown {
  cursor?: string | undefined;
  said?: string;
  refused?: Part;
  preview?: Preview;
}

async function showMappings(
  visit: Visit,
  { cursor, said, refused, preview }: Shown,
): Promise<ShownPage> {
  const key = keyOf(visit);
  const asked = parse(listMappings.input, { ...key, cursor, limit: mappingsOnPage });
  const { items, nextCursor } = await listMappings(visit.ctx, asked);
  const at = pathOf(key);
  const draftOf = (part: Part) => (refused === part ? visit : emptyDraft);
  const previewed = preview === undefined ? draftOf('preview') : { given: visit.given };
  return sheet(
    visit,
    'Roles for groups',
    html`${notice(said)}
${preview && previewSection(visit.given['user'] ?? '', preview)}
<section aria-label="Mappings">
<p class="quiet">A mapping gives the people of a group a role. The group comes from your directory (SCIM), or from your provider at a sign-in. If you change the role, members of a group from SCIM get the new one now, others at their next sign-in.</p>
${rows(
  items.map((mapping) => mappingRow(visit, at, mapping, draftOf('change'))),
  'There is no mapping.',
)}</section>
${pageLinks(at, {}, { nextCursor, previousCursor: null })}
<section aria-labelledby="in-project"><h2 id="in-project">Add a role in a project</h2>
${await projectForm(visit, at, draftOf('project'))}</section>
<section aria-labelledby="in-organization"><h2 id="in-organization">Add a role in the organization</h2>
${organizationForm(visit, at, draftOf('organization'))}</section>
<section aria-labelledby="preview"><h2 id="preview">Preview for a person</h2>
${previewForm(visit, `${at}/preview`, previewed)}</section>
${backTo(directoryOf(key))}`,
  );
}

function mappingRow(visit: Visit, at: string, mapping: Listed['items'][number], refused: Draft) {
  const { id, group, project, role, orgRole } = mapping;
  const draft = refused.given['id'] === id ? refused : emptyDraft;
  const content = html`${targetFields(draft, mapping)}
<button class="small" type="submit">Change role</button>`;
  return {
    name: group,
    mark: badge(role ?? orgRole ?? ''),
    facts: [project === undefined ? 'In the organization' : `In the project ${project.slug}`],
    more: html`<details${draft.refusal !== undefined && html` open`}><summary>Change role</summary>
${postForm(visit, `${at}/${id}/change`, content)}</details>`,
    action: endingLink(`${at}/${id}/remove`, 'Remove'),
  };
}

/** The fields for what the mapping gives. Their ids are unique, because each row has them. */
function targetFields(draft: Draft, { id, project, role, orgRole }: Listed['items'][number]): Html {
  if (project === undefined) {
    const of = { name: 'orgRole', id: `role-${id}`, label: 'New role', value: orgRole };
    return choice(draft, { ...of, options: orgRoleOptions });
  }
  const of = { name: 'role', id: `role-${id}`, label: 'New role', value: role };
  return html`${projectField(draft, { id: `project-${id}`, value: project.slug })}
${choice(draft, { ...of, options: projectRoleOptions })}`;
}

function projectField(draft: Draft, of: { id?: string; value?: string }): Html {
  return field(draft, {
    ...{ ...of, name: 'project', label: 'Project', note: 'Its short name.' },
    ...{ autocomplete: 'off', verbatim: true, maxLength: 60 },
  });
}

/** A field for the group. Its id is unique, because the page has two. */
function groupField(draft: Draft, id: string): Html {
  const note = 'The name or ID, exactly as your directory or provider sends it.';
  return field(draft, {
    ...{ name: 'group', id, label: 'Group', note },
    ...{ autocomplete: 'off', verbatim: true, maxLength: 256 },
  });
}

/** The projects in a list if they fit on a page, else a field for the short name of one. */
async function projectForm(visit: Visit, at: string, draft: Draft): Promise<Html> {
  const key = { org: visit.given['org'] ?? '', limit: 50 };
  const { items, nextCursor } = await listProjects(visit.ctx, key);
  if (items.length === 0)
    return html`<p>There is no project. <a href="/orgs/${key.org}/projects">Create one first</a></p>`;
  const project =
    nextCursor === null
      ? choice(draft, {
          ...{ name: 'project', label: 'Project' },
          options: Object.fromEntries(items.map(({ slug, name }) => [slug, `${name} (${slug})`])),
        })
      : projectField(draft, {});
  const content = html`${groupField(draft, 'project-group')}${project}
${choice(draft, { name: 'role', label: 'Role', options: projectRoleOptions, value: 'member' })}
<button type="submit">Add role in project</button>`;
  return postForm(visit, at, content);
}

function organizationForm(visit: Visit, at: string, draft: Draft): Html {
  const content = html`${groupField(draft, 'organization-group')}
${choice(draft, { name: 'orgRole', label: 'Role', options: orgRoleOptions })}
<button type="submit">Add role in organization</button>`;
  return postForm(visit, at, content);
}

function previewForm(visit: Visit, action: string, draft: Draft): Html {
  const note = 'One on each line. If it is empty, the last known groups of the person count.';
  const content = html`<p class="quiet">Shows what the next sign-in of a person would change, and changes nothing.</p>
${field(draft, { name: 'user', label: 'E-mail address', autocomplete: 'off', verbatim: true, maxLength: 320, value: draft.given['user'] })}
${area(draft, { name: 'groups', label: 'Groups', note, maxLength: 20_000, optional: true, value: draft.given['groups'] })}
<button type="submit">Preview</button>`;
  return postForm(visit, action, content);
}

type Entry = Preview['adds'][number];

function previewSection(user: string, { adds, changes, removes, orgRole, groups }: Preview): Html {
  const row = (name: string, mark: string, text: string, because: Entry['because']) => ({
    name,
    mark: badge(mark),
    text,
    facts: [because === null ? 'No group gives it.' : `From the group ${because.group}`],
  });
  const organization = 'The organization';
  const shown = [
    ...(orgRole === null
      ? []
      : [row(organization, 'changes', `${orgRole.from} to ${orgRole.to}`, orgRole.because)]),
    ...adds.map(({ project, role, because }) => row(project.slug, 'added', role, because)),
    ...changes.map(({ project, from, to, because }) =>
      row(project.slug, 'changes', `${from} to ${to}`, because),
    ),
    ...removes.map(({ project, role, because }) => ({
      ...row(project.slug, 'removed', role, because),
      facts: [because === null ? '' : `No longer from the group ${because.group}`],
    })),
  ];
  const names = groups.map(({ group }) => group).join(', ');
  return html`<section aria-labelledby="next"><h2 id="next">The next sign-in of ${user}</h2>
${rows(shown, 'It would change nothing.')}
<p class="quiet">Groups: ${names === '' ? 'none' : names}</p></section>`;
}
