import { endShownSession } from '../../services/people/sessions/end.ts';
import { signOut } from '../../services/people/sessions/operations.ts';
import { checkLogout, type Logout, logoutInput } from '../../services/signin/provider/logout.ts';
import { clearedSession } from '../cookies.ts';
import { html } from './html.ts';
import { otherLinks } from './navigation.ts';
import { form, isSignedIn, type PageReply, page, type ShownPage, type Visit } from './page.ts';
import { alert, postForm } from './parts.ts';
import { viaRenewal } from './renew.ts';

type LogoutInput = Parameters<typeof checkLogout>[1];

const path = '/oauth/logout';

/**
 * An application signs a person out (RP-Initiated Logout). Without an ID token of this session, the
 * page asks the person first, because any site can send a browser here.
 */
const logoutPage = page({
  path,
  access: 'public',
  input: logoutInput.extend({ again: logoutInput.shape.state }),
  show: async (visit, { again, ...input }) => {
    if (!isSignedIn(visit.ctx) && again === undefined)
      return { goTo: viaRenewal(path, visit.given) };
    const logout = await checkLogout(visit.ctx, input);
    if (logout.isCertain) return end(visit, logout);
    if (isSignedIn(visit.ctx)) return ask(visit, input, logout);
    return logout.isHinted && logout.goTo !== null ? { goTo: logout.goTo } : sayNoSession(logout);
  },
});

const confirmPage = form({
  path: `${path}/confirm`,
  access: 'public',
  input: logoutInput,
  act: async (visit, input) => {
    const logout = await checkLogout(visit.ctx, input);
    if (isSignedIn(visit.ctx)) return end(visit, logout);
    // The session token may have expired while the page was open.
    const ended = await endShownSession(visit.ctx);
    return ended ? sayEnded(logout) : sayNoSession(logout);
  },
  refused: (visit) => ({ title: 'Sign out', main: html`<h1>Sign out</h1>${alert(visit)}` }),
});

/** The page that signs a person out for an application, and its form. */
export const logoutPages = [logoutPage, confirmPage];

async function end({ ctx }: Visit, logout: Logout): Promise<PageReply> {
  await signOut(ctx, {});
  return sayEnded(logout);
}

function sayEnded({ goTo }: Logout): PageReply {
  const cookies = clearedSession();
  if (goTo !== null) return { goTo, cookies };
  const main = html`<h1>You are signed out</h1>
<p><a class="button" href="/login">Sign in again</a></p>`;
  return { title: 'Signed out', main, cookies };
}

/** Changes no cookie and does not redirect, because any site can send a browser here. */
function sayNoSession({ client, goTo }: Logout): ShownPage {
  const on = goTo ?? '/login';
  const label = goTo === null ? 'Sign in' : html`Go back to ${client?.name ?? 'the application'}`;
  return {
    title: 'Sign out',
    main: html`<h1>You are not signed in here</h1>
<p><a class="button" href="${on}">${label}</a></p>`,
  };
}

function ask(visit: Visit, input: LogoutInput, { client, goTo }: Logout): ShownPage {
  const who = client === null ? 'An application' : html`<strong>${client.name}</strong>`;
  return {
    title: 'Sign out',
    origins: goTo === null ? [] : [new URL(goTo).origin],
    main: html`<h1>Sign out?</h1>
<p>${who} asks to sign you out here, and out of every application that you signed in to from here.</p>
${postForm(visit, `${path}/confirm`, html`<button type="submit">Sign out</button>`, { ...input })}
${otherLinks(html`<a href="/">Stay signed in</a>`)}`,
  };
}
