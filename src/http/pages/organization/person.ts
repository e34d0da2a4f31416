import type { z } from 'zod';
import { parse } from '../../../input.ts';
import { isAllowed } from '../../../services/foundation/authority/require.ts';
import { explain } from '../../../services/signin/explain/operations.ts';
import { rightToGrant } from '../../../services/tenancy/memberships/membership.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../../services/tenancy/memberships/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { showMember } from '../../../services/tenancy/projects/of-member.ts';
import { resetMemberFactor } from '../../../services/tenancy/second-factor/operations.ts';
import { dayText } from '../../../text/dates.ts';
import { endingPages } from '../ending.ts';
import { type Html, html } from '../html.ts';
import { operationForm, type Page, page, type ShownPage, type Visit, viewPage } from '../page.ts';
import { choice, postForm } from '../parts.ts';
import { andMore, badge, endingLink, rows } from '../rows.ts';
import { goTo, sheet } from './sheet.ts';
import { explained } from './sign-ins.ts';
import { originWords, roleNote, roleOptions, roleWords } from './words.ts';

const path = '/orgs/:org/people/:user';

type Person = Awaited<ReturnType<typeof showMember>>;
type Key = z.output<typeof showMember.input>;

const peopleOf = ({ org }: { org: string }) => `/orgs/${encodeURIComponent(org)}/people`;
const pageOf = (key: Key) => `${peopleOf(key)}/${encodeURIComponent(key.user)}`;

/** The pages of one person of an organization. */
export const personPages: Page[] = [
  viewPage(path, showMember, showPerson),
  operationForm(path, changeMemberRole, {
    reply: (visit, _view, key) => goTo(visit, pageOf(key), 'role'),
    refused: async (visit) => {
      const key = parse(showMember.input, { org: visit.given['org'], user: visit.given['user'] });
      return showPerson(visit, await showMember(visit.ctx, key), key);
    },
  }),
  page({
    path: `${path}/sign-in`,
    access: 'members.explain',
    input: showMember.input,
    show: async (visit, key) => {
      const { name, email } = await showMember(visit.ctx, key);
      const back = html`<p><a href="${pageOf(key)}">Back to ${name}</a></p>`;
      const view = email === null ? null : await explain(visit.ctx, { org: key.org, user: email });
      return sheet(visit, `How ${name} signs in`, html`${explained(name, view)}${back}`);
    },
  }),
  ...endingPages(`${path}/second-factor`, resetMemberFactor, {
    act: 'Remove second factor',
    back: path,
    reply: (visit, _view, key) => goTo(visit, pageOf(key), 'factor-reset'),
  }),
  ...endingPages(`${path}/remove`, removeMember, {
    act: 'Remove from organization',
    back: path,
    reply: (visit, { userId }, key) =>
      isSelf(visit, userId) ? { goTo: '/' } : goTo(visit, peopleOf(key), 'removed'),
  }),
];

async function showPerson(visit: Visit, person: Person, key: Key): Promise<ShownPage> {
  const { role: own = 'member' } = await showOrganization(visit.ctx, { org: key.org });
  const { name, email, joinedAt } = person;
  const at = pageOf(key);
  const facts = [`${originWords(person)} · ${dayText(joinedAt)}`, roleWords(person)];
  const shown = { name: email ?? name, mark: badge(person.role), facts };
  return sheet(
    visit,
    name,
    html`<section aria-labelledby="role-title"><h2 id="role-title">Role</h2>
${rows([shown])}
${roleForm(visit, person, { own, at })}</section>
<section aria-labelledby="projects"><h2 id="projects">Projects</h2>
${projectRows(person, key)}</section>
<section aria-labelledby="sign-in"><h2 id="sign-in">Signing in</h2>
<p><a href="${at}/sign-in">Why can this person not sign in?</a></p>
<p><a href="${`/orgs/${encodeURIComponent(key.org)}/activity?person=${person.userId}`}">What happened to this person?</a></p>
${
  !isSelf(visit, person.userId) &&
  (person.role === 'member' || isAllowed(own, 'members.takeOwner')) &&
  html`<p class="quiet">If the person lost their authenticator app or passkeys, remove the second factor.</p>
<div class="buttons">${endingLink(`${at}/second-factor`, 'Remove second factor')}</div>`
}</section>
<section aria-labelledby="leaving"><h2 id="leaving">Membership</h2>
${isSelf(visit, person.userId) ? html`<p>This is you. To leave, use <a href="/#organizations">your account page</a>.</p>` : html`<p class="quiet">The account of the person stays.</p><div class="buttons">${endingLink(`${at}/remove`, 'Remove from organization')}</div>`}</section>`,
  );
}

function isSelf({ ctx: { actor } }: Visit, userId: string): boolean {
  return actor.kind === 'user' && actor.accountId === userId;
}

/** The form with the roles that the viewer may give. An admin does not change an owner. */
function roleForm(
  visit: Visit,
  { role }: Person,
  { own, at }: { own: Person['role']; at: string },
): Html {
  if (role === 'owner' && !isAllowed(own, 'members.takeOwner'))
    return html`<p>Only an owner changes the role of an owner.</p>`;
  const options = roleOptions((each) => isAllowed(own, rightToGrant(each)));
  const content = html`${choice(visit, { name: 'role', label: 'New role', note: roleNote, options, value: role })}
<button type="submit">Change role</button>`;
  return postForm(visit, at, content);
}

function projectRows({ projects, moreProjects: more }: Person, { org }: Key): Html {
  const shown = projects.map((project) => ({
    name: project.slug,
    href: `/orgs/${encodeURIComponent(org)}/projects/${project.slug}`,
    mark: badge(project.role),
    facts: [roleWords(project)],
  }));
  return html`${rows(shown, 'The person is not in a project.')}${andMore(more)}`;
}
