import { methodNames } from '../../../services/people/sessions/method-names.ts';
import { listSessions } from '../../../services/people/sessions/operations.ts';
import { programOf } from '../../../services/people/sessions/program.ts';
import { listTokens } from '../../../services/people/tokens/operations.ts';
import { describeAccount, describeOwner } from '../../../services/signin/account-page.ts';
import { listSocial } from '../../../services/signin/methods/social-links.ts';
import { listSignedIn } from '../../../services/signin/provider/operations.ts';
import { type Html, html } from '../html.ts';
import { knownAs } from '../login/forms.ts';
import { noticeOf } from '../marks.ts';
import type { ShownPage, Visit } from '../page.ts';
import { field, postForm } from '../parts.ts';
import { badge, button, endingLink, rows } from '../rows.ts';
import { applicationsSection } from './applications.ts';
import { connectionsSection } from './connections.ts';
import { emailPart } from './email.ts';
import { leavingSection } from './leaving.ts';
import { passkeyNeeds, passkeysSection } from './passkeys.ts';
import { recoveringNotice, recoveryCodesSection, shownCodes } from './recovery-codes.ts';
import {
  ago,
  type Described,
  type Draft,
  isTold,
  type Me,
  type SectionName,
  type ShownSession,
  section,
} from './section.ts';
import { socialSection } from './social.ts';
import { tokensSection } from './tokens.ts';
import { twoFactorSection } from './two-factor.ts';

/** The text of each notice, and the section that shows it. */
const notices: Record<string, { in: SectionName; text: string }> = {
  profile: { in: 'profile', text: 'Your profile was saved.' },
  email: {
    in: 'profile',
    text: 'Your e-mail address was changed. You are signed out everywhere else.',
  },
  password: {
    in: 'password',
    text: 'Your password was changed. You are signed out everywhere else.',
  },
  'passkey-added': { in: 'passkeys', text: 'The passkey was added.' },
  'passkey-renamed': { in: 'passkeys', text: 'The passkey was renamed.' },
  'passkey-removed': { in: 'passkeys', text: 'The passkey was removed.' },
  'confirmed-passkeys': {
    in: 'passkeys',
    text: 'Thank you. For the next ten minutes, you can add or remove a passkey.',
  },
  'two-factor-on': { in: 'two-factor', text: 'Two-factor authentication is on.' },
  'two-factor-off': { in: 'two-factor', text: 'Two-factor authentication is off.' },
  linked: { in: 'sign-in', text: 'The account was connected. You can sign in with it.' },
  approved: { in: 'connections', text: 'The connection was approved.' },
  session: { in: 'sessions', text: 'That session has ended.' },
  client: { in: 'applications', text: 'You are signed out of that application.' },
  token: { in: 'tokens', text: 'The token was revoked.' },
  unlinked: {
    in: 'sign-in',
    text: 'The account was disconnected. You can no longer sign in with it.',
  },
  left: { in: 'organizations', text: 'You have left the organization.' },
  'organization-deleted': { in: 'organizations', text: 'The organization was deleted.' },
  joined: { in: 'organizations', text: 'You have joined the organization.' },
};

const maxShown = 200;

/**
 * The account page of the signed-in person. The section `refusedIn` shows a refused form, whose path
 * is `refused`.
 */
export async function showAccount(
  visit: Visit,
  refusedIn?: SectionName,
  refused?: string,
): Promise<ShownPage> {
  const { ctx, token } = visit;
  const [sessions, clients, tokens, social, more] = await Promise.all([
    listSessions(ctx, { limit: maxShown }),
    listSignedIn(ctx, { limit: maxShown }),
    listTokens(ctx, { limit: maxShown }),
    listSocial(ctx),
    describeAccount(ctx, visit.cookie('passkey')),
  ]);
  const done = notices[noticeOf(visit, visit.given['done']) ?? ''];
  const { me, toConfirm } = more;
  const confirmIn = visit.refusal?.code === 'recent_sign_in_required' ? refusedIn : undefined;
  const asksIn = confirmIn ?? visit.given['section'] ?? 'passkeys';
  const draft = (name: SectionName): Draft => {
    const said = done?.in === name ? { notice: done.text } : {};
    const asks = toConfirm !== null && name === asksIn ? { toConfirm } : {};
    return {
      ...(name === refusedIn ? { ...visit, refused } : { ctx, token, given: {}, ...said }),
      ...asks,
    };
  };
  return {
    title: 'Your account',
    wide: true,
    ...passkeyNeeds(more),
    main: html`<div class="head"><h1>${me.name}</h1>
${button(visit, '/account/sign-out', 'Sign out')}</div>
${recoveringNotice(more)}
${connectionsSection(draft('connections'), more)}
${profileSection(draft('profile'), me, more)}
${passwordSection(draft('password'), me, more)}
${passkeysSection(draft('passkeys'), me, more)}
${socialSection(
  draft('sign-in'),
  social.items.map(({ provider }) => provider),
)}
${twoFactorSection(draft('two-factor'), me, more)}
${recoveryCodesSection(draft('recovery-codes'), me, more)}
${sessionsSection(draft('sessions'), sessions.items, more)}
${applicationsSection(draft('applications'), more, clients.items)}
${tokensSection(draft('tokens'), tokens.items, more)}
${organizationsSection(draft('organizations'), more)}
${leavingSection(draft('leaving'), more)}`,
  };
}

/** Shows new recovery codes once; then the account page, with the notice `done`. */
export async function showCodes(visit: Visit, codes: string[], done?: string): Promise<ShownPage> {
  const said = notices[done ?? '']?.text;
  return shownCodes(visit, { codes, me: await describeOwner(visit.ctx), done, said });
}

/** The section for address, name and language. */
function profileSection(draft: Draft, { email, name, locale }: Me, more: Described): Html {
  const note =
    'A language tag such as en or de-AT. Programs that you use with this account can read it.';
  const content = html`${field(draft, { name: 'name', label: 'Name', autocomplete: 'name', value: name, maxLength: 200 })}
${field(draft, { name: 'locale', label: 'Language', autocomplete: 'language', value: locale, note, verbatim: true, maxLength: 35 })}
<button type="submit">Save</button>`;
  const form = postForm(draft, '/account/profile#profile', content);
  return section(draft, 'profile', html`${emailPart(draft, email, more)}${form}`);
}

/** The form that changes the password, or that chooses the first; null if the person cannot. */
function passwordSection(draft: Draft, { email }: Me, { password }: Described): Html | null {
  if (password !== 'there') {
    const button = html`<button class="small" type="submit">Send me a code to choose a password</button>`;
    const choose = password === 'may be chosen' && email !== null;
    if (!choose && !isTold(draft)) return null;
    return section(
      draft,
      'password',
      html`<p>Your account has no password. You sign in another way.</p>${choose && postForm(draft, '/login/reset', button, { email })}`,
    );
  }
  const note = `At least ${draft.ctx.config.password.minLength} characters. You will be signed out everywhere else.`;
  const content = html`${email !== null && knownAs(email)}
${field(draft, { name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${field(draft, { name: 'newPassword', label: 'New password', type: 'password', autocomplete: 'new-password', note })}
<button type="submit">Change password</button>`;
  return section(draft, 'password', postForm(draft, '/account/password#password', content));
}

/** The organizations of the person, and their projects in them; null if there are none. */
function organizationsSection(draft: Draft, { organizations, hasMore }: Described): Html | null {
  if (organizations.length === 0 && !isTold(draft)) return null;
  const shown = rows(
    organizations.map(organizationRow),
    'You are not a member of an organization.',
  );
  const more = hasMore && html`<p class="quiet">You are a member of more organizations.</p>`;
  return section(draft, 'organizations', html`${shown}${more}`);
}

function organizationRow(organization: Described['organizations'][number]) {
  const { slug, name, role, group, projects, more } = organization;
  const by = (project: { group: string | null }) =>
    project.group === null ? '' : `, from the ${project.group}`;
  const roles = projects.map((each) => `${each.slug} (${each.role}${by(each)})`).join(', ');
  return {
    name,
    href: `/orgs/${slug}`,
    mark: badge(role),
    facts: [
      group !== null && `Your role comes from the ${group}.`,
      roles !== '' && `Projects: ${roles}${more > 0 ? ` and ${more} more` : ''}`,
    ],
    action: endingLink('/account/organizations/leave', 'Leave', { org: slug }),
  };
}

/** The sessions of the person, the newest first. */
function sessionsSection(draft: Draft, sessions: ShownSession[], more: Described): Html {
  const shown = sessions
    .toReversed()
    .map((session) => sessionRow(draft, session, more.sessions.get(session.id)));
  return section(draft, 'sessions', rows(shown));
}

function sessionRow(draft: Draft, session: ShownSession, organization: string | undefined) {
  const { id, method, current, createdAt, lastSeenAt, address, userAgent } = session;
  const { now } = draft.ctx;
  const by = `with ${methodNames[method] ?? method}${organization === undefined ? '' : ` of ${organization}`}`;
  return {
    name: programOf(userAgent),
    mark: current ? badge('this one') : undefined,
    facts: [
      `${address ?? 'unknown address'} · ${by}, ${ago(now, createdAt)} · last used ${ago(now, lastSeenAt)}`,
    ],
    action: !current && button(draft, '/account/sessions/end#sessions', 'End', { id }),
  };
}
