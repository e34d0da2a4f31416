import { startLinking } from '../../../services/signin/methods/social.ts';
import {
  findSocialClient,
  providerNames,
  type SocialProvider,
  socialProviders,
} from '../../../services/tenancy/identities/social-providers.ts';
import { flowCookie } from '../../cookies.ts';
import { type Html, html } from '../html.ts';
import { markNotice } from '../marks.ts';
import type { PageReply, Visit } from '../page.ts';
import { button } from '../rows.ts';
import { type Draft, section } from './section.ts';

/** The section for Google and GitHub; null if neither is configured or linked. */
export function socialSection(draft: Draft, linked: SocialProvider[]): Html | null {
  const shown = socialProviders.filter(
    (provider) => linked.includes(provider) || findSocialClient(draft.ctx, provider) !== null,
  );
  if (shown.length === 0) return null;
  const buttons = shown.map((provider) => {
    const [way, word] = linked.includes(provider) ? ['/unlink', 'Disconnect'] : ['', 'Connect'];
    const label = `${word} ${providerNames[provider]}`;
    return button(draft, `/account/social${way}#sign-in`, label, { provider });
  });
  return section(
    draft,
    'sign-in',
    html`<p class="quiet">Connect an account, then you can sign in with it.</p>
<div class="buttons">${buttons}</div>`,
  );
}

/** Leads to the provider through a page: the policy forbids a form to redirect to another site. */
export async function leadAway(visit: Visit, provider: SocialProvider): Promise<PageReply> {
  const name = providerNames[provider];
  const started = await startLinking(visit.ctx, provider, {
    returnTo: `/?done=${markNotice(visit, 'linked')}#sign-in`,
  });
  const { authorizationUrl } = started;
  return {
    title: `Connect ${name}`,
    handOff: authorizationUrl,
    main: html`<h1>Connect ${name}</h1>
<p><a class="button" href="${authorizationUrl}">Continue to ${name}</a></p>`,
    cookies: [flowCookie('social_flow', started)],
  };
}
