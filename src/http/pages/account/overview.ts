import { showMe } from '../../../services/accounts/me.ts';
import { listSessions } from '../../../services/sessions/list.ts';
import { listTokens } from '../../../services/tokens/list.ts';
import { html } from '../html.ts';
import type { Shown, Visit } from '../page.ts';
import { notice, postForm } from '../parts.ts';
import { organizationsSection } from './organizations.ts';
import { passwordSection } from './password.ts';
import { profileSection } from './profile.ts';
import { type Draft, type SectionName, section } from './section.ts';
import { sessionsSection } from './sessions.ts';
import { tokensSection } from './tokens.ts';
import { twoFactorSection } from './two-factor.ts';

const notices: Record<string, string> = {
  profile: 'Your profile was saved.',
  password: 'Your password was changed. Everywhere else you have been signed out.',
  'two-factor-on': 'Two-factor authentication is on.',
  'two-factor-off': 'Two-factor authentication is off.',
  session: 'That session has ended.',
  token: 'The token was revoked.',
  joined: 'You have joined.',
};

const mostShown = 200;

/** The account of whoever is signed in; what was refused is said in the section it was asked for. */
export async function showAccount(visit: Visit, refusedIn?: SectionName): Promise<Shown> {
  const { ctx, token } = visit;
  const [me, sessions, tokens] = await Promise.all([
    showMe(ctx),
    listSessions(ctx, { limit: mostShown }),
    listTokens(ctx, { limit: mostShown }),
  ]);
  const draft = (name: SectionName): Draft => (name === refusedIn ? visit : { ctx, token, given: {} });
  return {
    title: 'Your account',
    wide: true,
    main: html`<div class="head"><h1>${me.name}</h1>
${postForm(visit, '/account/sign-out', html`<button class="small" type="submit">Sign out</button>`)}</div>
${notice(notices[visit.given['done'] ?? ''])}
${section(draft('profile'), 'profile', 'Profile', profileSection(draft('profile'), me))}
${section(draft('password'), 'password', 'Password', passwordSection(draft('password'), me))}
${section(draft('two-factor'), 'two-factor', 'Two-factor authentication', twoFactorSection(draft('two-factor'), me))}
${section(draft('sessions'), 'sessions', 'Where you are signed in', sessionsSection(draft('sessions'), sessions.items))}
${section(draft('tokens'), 'tokens', 'Access tokens', tokensSection(draft('tokens'), tokens.items))}
${section(draft('organizations'), 'organizations', 'Organizations', organizationsSection(me))}`,
  };
}
