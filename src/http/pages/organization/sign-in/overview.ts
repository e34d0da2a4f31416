import { connectionKinds } from '../../../../connection-kinds.ts';
import { parse } from '../../../../input.ts';
import { isAllowed } from '../../../../services/foundation/authority/require.ts';
import { listDomains } from '../../../../services/tenancy/domains/operations.ts';
import { showLdap } from '../../../../services/tenancy/ldap/operations.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import {
  showReach,
  showSignInSettings,
  signInSettingsView,
} from '../../../../services/tenancy/signin-settings/operations.ts';
import { signInWords } from '../../../../services/tenancy/signin-settings/words.ts';
import { providerOf } from '../../../../services/tenancy/sso/connection.ts';
import { showSso } from '../../../../services/tenancy/sso/operations.ts';
import { type Html, html } from '../../html.ts';
import { type Page, type ShownPage, type Visit, viewPage } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { badge, rows } from '../../rows.ts';
import { sheet } from '../sheet.ts';
import { domainsSection } from './domain-list.ts';
import { ifThere } from './if-there.ts';
import { path, pathOf } from './path.ts';
import { settingField } from './setting.ts';
import { settingsForm } from './settings.ts';

/** The page with the domains, the connections and the settings, and the form of the settings. */
export const signInSettingsPages: Page[] = [
  viewPage(path, listDomains, (visit) => showSignIn(visit)),
  settingsForm(showSignIn),
];

/** Shows how the people of the organization sign in. */
export async function showSignIn(visit: Visit): Promise<ShownPage> {
  const { ctx } = visit;
  const key = parse(showSso.input, { org: visit.given['org'] });
  const { slug, name, role } = await showOrganization(ctx, key);
  const at = pathOf(visit);
  const [domains, sso, ldap] = await Promise.all([
    listDomains(ctx, { ...key, limit: 200 }),
    ifThere(showSso(ctx, key)),
    ifThere(showLdap(ctx, key)),
  ]);
  return sheet(
    visit,
    `Sign-in to ${name}`,
    html`${isAllowed(role ?? 'member', 'setupLinks.see') && html`<p class="quiet">Does someone without an account manage your DNS or provider? <a href="/orgs/${slug}/settings/setup-links">Setup links</a></p>`}
${domainsSection(visit, domains.items)}
<section aria-labelledby="connections"><h2 id="connections">Connections</h2>
${rows([
  connectionRow('sso', sso && { ...sso, to: providerOf(sso) }, `${at}/sso`),
  connectionRow('ldap', ldap && { ...ldap, to: ldap.uri }, `${at}/ldap`),
])}</section>
${await settingsSection(visit, at)}`,
  );
}

interface Connection {
  enabled: boolean;
  approved: boolean;
  to: string;
}

/** The row of a connection in the list of ways to sign in. */
export function connectionRow(kind: 'sso' | 'ldap', connection: Connection | null, href: string) {
  const { title } = connectionKinds[kind];
  if (connection === null) {
    const text =
      kind === 'sso'
        ? 'People sign in with your provider, such as Microsoft Entra ID, Okta or Google.'
        : 'People sign in with the password of your directory, by LDAP.';
    const action = html`<a class="button small" href="${href}">Connect</a>`;
    return { name: title, mark: badge('not connected'), text, action };
  }
  const { enabled, approved, to } = connection;
  const facts = [!approved && 'An owner has to approve it before owners can sign in through it.'];
  return { name: title, href, mark: badge(enabled ? 'on' : 'off'), text: to, facts };
}

async function settingsSection(visit: Visit, at: string): Promise<Html> {
  const key = parse(showSignInSettings.input, { org: visit.given['org'] });
  const [settings, { governs, obstacles }] = await Promise.all([
    showSignInSettings(visit.ctx, key),
    showReach(visit.ctx, key),
  ]);
  const { shape } = signInSettingsView;
  const inputs = Object.entries(signInWords).map(([name, words]) => {
    // Both have the same names, which Object.entries loses.
    const setting = name as keyof typeof signInWords;
    const described = { words, schema: shape[setting], value: settings[setting] };
    return settingField(visit, name, described);
  });
  const missing = Object.entries(signInWords).flatMap(([name, { page }]) =>
    name in obstacles ? [page.label] : [],
  );
  return html`<section aria-labelledby="settings"><h2 id="settings">Sign-in settings</h2>
<p class="quiet">These settings apply to people with an address on your verified domains.${!governs && ' No domain is verified, so they do not apply to anyone yet.'}</p>
${missing.length > 0 && html`<p class="quiet">This service does not offer: ${missing.join(', ')}.</p>`}
${postForm(visit, `${at}/settings`, html`${inputs}<button type="submit">Save settings</button>`)}</section>`;
}
