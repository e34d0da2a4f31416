import type { Context } from '../../context.ts';
import { isAllowed } from '../../services/foundation/authority/require.ts';
import type { OrganizationRight } from '../../services/foundation/authority/table.ts';
import { listOwnOrganizations } from '../../services/tenancy/profile/own-organizations.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

/** Other ways on from a page: links and small forms below its content. */
export function otherLinks(...ways: Html[]): Html {
  return html`<nav class="below" aria-label="Other ways">${ways}</nav>`;
}

/** The pages of an organization in its navigation, with the right that each needs. */
const parts: { path: string; text: string; right: OrganizationRight }[] = [
  { path: '', text: 'Overview', right: 'organization.see' },
  { path: '/people', text: 'People', right: 'members.see' },
  { path: '/projects', text: 'Projects', right: 'projects.see' },
  { path: '/invitations', text: 'Invitations', right: 'invitations.see' },
  { path: '/sign-in', text: 'Sign-in', right: 'domains.see' },
  { path: '/applications', text: 'Applications', right: 'clients.see' },
  { path: '/activity', text: 'Activity', right: 'events.see' },
  { path: '/directory', text: 'Directory', right: 'scim.see' },
  { path: '/settings', text: 'Settings', right: 'webhooks.see' },
];

const inside = '/orgs/:org';

/**
 * The links between the pages of a signed-in person: the account, up to 50 organizations, and the
 * parts of the organization that the page is about. Null for a person without an organization.
 */
export async function navigation(
  ctx: Context,
  { path }: Pick<Page, 'path'>,
  { org }: Record<string, string>,
): Promise<Html | null> {
  const organizations = await listOwnOrganizations(ctx, org);
  if (organizations.length === 0) return null;
  const isHere = ({ id, slug }: { id: string; slug: string }) =>
    path.startsWith(inside) && (org === id || org === slug);
  const here = organizations.find(isHere);
  const all = [
    link('/', 'Your account', path === '/' && 'page'),
    ...organizations.map((each) =>
      link(`/orgs/${each.slug}`, each.name, each === here && (path === inside ? 'page' : 'true')),
    ),
  ];
  return html`<nav class="parts" aria-label="Pages"><ul>${all}</ul>${here && partsOf(here, path)}</nav>`;
}

function partsOf(
  { slug, name, role }: { slug: string; name: string; role: Parameters<typeof isAllowed>[0] },
  path: string,
): Html {
  const links = parts
    .filter(({ right }) => isAllowed(role, right))
    .map((part) => {
      const of = inside + part.path;
      const below = part.path !== '' && path.startsWith(`${of}/`) && 'true';
      return link(`/orgs/${slug}${part.path}`, part.text, path === of ? 'page' : below);
    });
  return html`<ul aria-label="${name}">${links}</ul>`;
}

function link(href: string, text: string, current: 'page' | 'true' | false): Html {
  return html`<li><a href="${href}"${current && html` aria-current="${current}"`}>${text}</a></li>`;
}
