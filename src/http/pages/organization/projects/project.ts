import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { isAllowed, isEnoughInside } from '../../../../services/foundation/authority/require.ts';
import type { ProjectRight } from '../../../../services/foundation/authority/table.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import {
  addProjectMember,
  changeProjectMember,
  listProjectMembers,
  removeProjectMember,
} from '../../../../services/tenancy/projects/members.ts';
import { renameProject, showProject } from '../../../../services/tenancy/projects/operations.ts';
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
import { choice, field, postForm } from '../../parts.ts';
import { badge, endingLink, pageLinks, rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import { projectRoleOptions, roleWords } from '../words.ts';
import { path as listPath } from './list.ts';

const path = `${listPath}/:project`;

const { org, project, cursor } = listProjectMembers.input.shape;
const key = z.strictObject({ org, project });
type Key = z.output<typeof key>;

const pathOf = (of: Key) =>
  `/orgs/${encodeURIComponent(of.org)}/projects/${encodeURIComponent(of.project)}`;

/** Each member has a form, so a page of fifty would weigh too much. */
const membersOnPage = 25;

/** The forms of the page that can be refused. */
type Part = 'name' | 'add' | 'role';

/** The pages of one project: its name and its members. */
export const projectPages: Page[] = [
  page({
    path,
    access: accessTo(listProjectMembers),
    input: key.extend({ cursor }),
    show: (visit) => showPage(visit),
  }),
  operationForm(`${path}/name`, renameProject, {
    reply: (visit) => goTo(visit, pathOf(keyOf(visit)), 'project-renamed'),
    refused: (visit) => showPage(visit, 'name'),
  }),
  operationForm(`${path}/members`, addProjectMember, {
    reply: (visit) => goTo(visit, pathOf(keyOf(visit)), 'project-member-added'),
    refused: (visit) => showPage(visit, 'add'),
  }),
  operationForm(`${path}/members/:user`, changeProjectMember, {
    reply: (visit) => goTo(visit, pathOf(keyOf(visit)), 'role'),
    refused: (visit) => showPage(visit, 'role'),
  }),
  ...endingPages(`${path}/members/:user/remove`, removeProjectMember, {
    act: 'Remove from project',
    back: path,
    reply: async (visit, { userId }) => {
      const { actor } = visit.ctx;
      // A project admin who removes themselves no longer sees the project.
      if (actor.kind === 'user' && actor.accountId === userId)
        return goTo(visit, `/orgs/${encodeURIComponent(keyOf(visit).org)}/projects`, 'removed');
      return goTo(visit, pathOf(keyOf(visit)), 'removed');
    },
  }),
];

const keyOf = ({ given }: Visit) => parse(key, { org: given['org'], project: given['project'] });

type Draft = Pick<Visit, 'given' | 'refusal'>;

const emptyDraft: Draft = { given: {} };

async function showPage(visit: Visit, refusedIn?: Part): Promise<ShownPage> {
  const { ctx, given } = visit;
  const here = keyOf(visit);
  const asked = { ...here, ...(refusedIn === undefined && { cursor: given['cursor'] }) };
  const input = parse(listProjectMembers.input, { ...asked, limit: membersOnPage });
  const { slug, role: own = 'member' } = await showOrganization(ctx, here);
  const shown = await showProject(ctx, here);
  const { items, nextCursor } = await listProjectMembers(ctx, input);
  const may = (right: ProjectRight) =>
    isAllowed(own, right) || (shown.role !== undefined && isEnoughInside(shown.role, right));
  const mayChange = may('projectMembers.change');
  const at = pathOf({ org: slug, project: shown.slug });
  const draftOf = (part: Part) => (refusedIn === part ? visit : emptyDraft);
  const changing = mayChange && {
    visit,
    at,
    draft: draftOf('role'),
    isAdmin: isAllowed(own, 'projectMembers.changeSynced'),
  };
  return sheet(
    visit,
    shown.name,
    html`<section aria-labelledby="members"><h2 id="members">Members</h2>
${rows(
  items.map((member) => memberRow(member, changing)),
  'The project has no members.',
)}</section>
${pageLinks(at, {}, { nextCursor, previousCursor: null })}
${mayChange && addSection(visit, at, draftOf('add'))}
${isAllowed(own, 'projects.change') && projectSection(visit, { ...shown, at }, draftOf('name'))}
<p><a href="/orgs/${slug}/projects">All projects</a></p>`,
  );
}

type Member = Awaited<ReturnType<typeof listProjectMembers>>['items'][number];

interface Changing {
  visit: Visit;
  at: string;
  draft: Draft;
  /** The viewer may also change roles that a group gave. */
  isAdmin: boolean;
}

function memberRow(member: Member, changing: Changing | false) {
  const { userId, name, email, role, synced } = member;
  const shown = { name, mark: badge(role), facts: [email ?? '', roleWords(member)] };
  if (!changing || (synced && !changing.isAdmin)) return shown;
  const { visit, at, draft: refused } = changing;
  const draft = refused.given['user'] === userId ? refused : emptyDraft;
  const note = synced && 'Group sync then leaves the role alone.';
  const select = choice(draft, {
    ...{ name: 'role', id: `role-${userId}`, label: 'New role', value: role },
    ...{ options: projectRoleOptions, ...(note && { note }) },
  });
  const content = html`${select}<button class="small" type="submit">Change role</button>`;
  return {
    ...shown,
    more: html`<details${draft.refusal !== undefined && html` open`}><summary>Change role</summary>
${postForm(visit, `${at}/members/${userId}`, content)}</details>`,
    action: endingLink(`${at}/members/${userId}/remove`, 'Remove'),
  };
}

function addSection(visit: Visit, at: string, draft: Draft): Html {
  const note = 'The person must be a member of the organization.';
  const content = html`${field(draft, { name: 'user', label: 'E-mail address', note, autocomplete: 'off', verbatim: true, maxLength: 320 })}
${choice(draft, { name: 'role', label: 'Role', options: projectRoleOptions, value: 'member' })}
<button type="submit">Add to project</button>`;
  return html`<section aria-labelledby="add"><h2 id="add">Add a person</h2>
${postForm(visit, `${at}/members`, content)}</section>`;
}

function projectSection(visit: Visit, { name, at }: { name: string; at: string }, draft: Draft) {
  const value = name;
  const content = html`${field(draft, { name: 'name', label: 'Name', autocomplete: 'off', maxLength: 200, value })}
<button type="submit">Rename</button>`;
  return html`<section aria-labelledby="project"><h2 id="project">Project</h2>
${postForm(visit, `${at}/name`, content)}
<div class="buttons">${endingLink(`${at}/delete`, 'Delete project')}</div></section>`;
}
