import type { listSignedIn } from '../../../services/signin/provider/operations.ts';
import { type Html, html } from '../html.ts';
import { button, rows } from '../rows.ts';
import { ago, type Described, type Draft, isTold, section } from './section.ts';

type SignedIn = Awaited<ReturnType<typeof listSignedIn>>['items'][number];

/** The applications that the person can open, and those signed in to; null if there are none. */
export function applicationsSection(
  draft: Draft,
  { applications }: Described,
  signedIn: SignedIn[],
): Html | null {
  if (applications.length + signedIn.length === 0 && !isTold(draft)) return null;
  const shown = applications.map(({ name, homeUrl, organization }) => {
    return { name, href: homeUrl, isElsewhere: true, facts: [organization] };
  });
  const entered =
    signedIn.length > 0 &&
    html`<h3>Where you are signed in with this account</h3>${rows(signedIn.map((client) => row(draft, client)))}`;
  return section(draft, 'applications', html`${rows(shown)}${entered}`);
}

function row(draft: Draft, { clientId, name, organization, since }: SignedIn) {
  return {
    name,
    facts: [`${organization.name} · signed in ${ago(draft.ctx.now, since)}`],
    action: button(draft, '/account/clients/end#applications', 'Sign out there', { clientId }),
  };
}
