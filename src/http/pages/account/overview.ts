import { listSessions } from '../../../services/people/sessions/operations.ts';
import { listTokens } from '../../../services/people/tokens/operations.ts';
import { describeAccount } from '../../../services/signin/account-page.ts';
import { listSocial } from '../../../services/signin/methods/social/list.ts';
import { showMe } from '../../../services/tenancy/profile/operations.ts';
import { html } from '../html.ts';
import { noticeOf } from '../notice.ts';
import type { Shown, Visit } from '../page.ts';
import { postForm } from '../parts.ts';
import { organizationsSection } from './organizations.ts';
import { passwordSection } from './password.ts';
import { profileSection } from './profile.ts';
import type { Draft, SectionName } from './section.ts';
import { sessionsSection } from './sessions.ts';
import { socialSection } from './social.ts';
import { tokensSection } from './tokens.ts';
import { twoFactorSection } from './two-factor.ts';

/** What each notice says, and in which section. */
const notices: Record<string, { in: SectionName; text: string }> = {
  profile: { in: 'profile', text: 'Your profile was saved.' },
  password: { in: 'password', text: 'Your password was changed. You are signed out everywhere else.' },
  'two-factor-on': { in: 'two-factor', text: 'Two-factor authentication is on.' },
  'two-factor-off': { in: 'two-factor', text: 'Two-factor authentication is off.' },
  linked: { in: 'sign-in', text: 'You can sign in that way from now on.' },
  session: { in: 'sessions', text: 'That session has ended.' },
  token: { in: 'tokens', text: 'The token was revoked.' },
  unlinked: { in: 'sign-in', text: 'It is disconnected.' },
  left: { in: 'organizations', text: 'You have left the organization.' },
  joined: { in: 'organizations', text: 'You have joined.' },
};

const mostShown = 200;

/** The account of the person who is signed in. A section says what was refused in it. */
export async function showAccount(visit: Visit, refusedIn?: SectionName): Promise<Shown> {
  const { ctx, token } = visit;
  const [me, sessions, tokens, social, more] = await Promise.all([
    showMe(ctx, {}),
    listSessions(ctx, { limit: mostShown }),
    listTokens(ctx, { limit: mostShown }),
    listSocial(ctx),
    describeAccount(ctx),
  ]);
  const done = notices[noticeOf(visit, visit.given['done']) ?? ''];
  const draft = (name: SectionName): Draft => {
    const said = done?.in === name ? { notice: done.text } : {};
    return name === refusedIn ? visit : { ctx, token, given: {}, ...said };
  };
  return {
    title: 'Your account',
    wide: true,
    main: html`<div class="head"><h1>${me.name}</h1>
${postForm(visit, '/account/sign-out', html`<button class="small" type="submit">Sign out</button>`)}</div>
${profileSection(draft('profile'), me)}
${passwordSection(draft('password'), me, more)}
${twoFactorSection(draft('two-factor'), me, more)}
${socialSection(
  draft('sign-in'),
  social.items.map(({ provider }) => provider),
)}
${sessionsSection(draft('sessions'), sessions.items, more)}
${tokensSection(draft('tokens'), tokens.items, { me, more })}
${organizationsSection(draft('organizations'), me)}`,
  };
}
