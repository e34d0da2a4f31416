import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { testLdap } from '../../../../services/signin/methods/ldap/test.ts';
import {
  changeLdap,
  disableLdap,
  enableLdap,
  removeLdap,
  showLdap,
} from '../../../../services/tenancy/ldap/operations.ts';
import type { LdapSettingName } from '../../../../services/tenancy/ldap/schema.ts';
import { ldapWords } from '../../../../services/tenancy/ldap/words.ts';
import { endingPages } from '../../ending.ts';
import { html } from '../../html.ts';
import { accessTo, form, type Page, page, type ShownPage, type Visit } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import {
  anywayForm,
  type Examined,
  examinedSection,
  maySkipTest,
  saveAnywayButton,
  stateSection,
} from './connection.ts';
import { ifThere } from './if-there.ts';
import { pathOf, path as signInPath } from './path.ts';
import { settingField } from './setting.ts';
import { shutOutBy } from './shut-out.ts';

const at = (visit: Visit) => `${pathOf(visit)}/ldap`;
const key = z.strictObject({ org: showLdap.input.shape.org });
const untested = z.boolean().optional();

/** How the form shows each setting, and what an empty field means. */
const shapes: Record<LdapSettingName, { optional?: true; lines?: true; secret?: true }> = {
  uri: {},
  tls: {},
  caCertificate: { optional: true, lines: true },
  bindDn: {},
  bindPassword: { secret: true },
  searchBase: {},
  searchFilter: {},
  emailAttribute: {},
  givenNameAttribute: {},
  familyNameAttribute: {},
  groupsAttribute: { optional: true },
};
const none = { caCertificate: null, groupsAttribute: null };

/** What a new connection begins with. */
const usual = {
  tls: true,
  emailAttribute: 'mail',
  givenNameAttribute: 'givenName',
  familyNameAttribute: 'sn',
};

/** The pages on which an organization connects its directory. */
export function ldapPages(base: string): Page[] {
  const of = `${base}/ldap`;
  return [
    page({
      path: of,
      access: accessTo(showLdap),
      input: key.extend({ done: z.string().max(50).optional() }),
      show: (visit) => showConnection(visit),
    }),
    page({
      path: `${of}/set`,
      access: accessTo(changeLdap),
      input: key,
      show: (visit) => askSettings(visit),
    }),
    form({
      path: `${of}/set`,
      access: accessTo(changeLdap),
      input: changeLdap.input.extend({ untested }),
      act: async (visit, { untested: unasked, ...given }) => {
        const input = parse(changeLdap.input, { ...none, ...given });
        const { enabled } = await visit.rehearse(changeLdap, input);
        // A wrong setting of a connection that is on would stop all sign-ins through it.
        if (enabled && !maySkipTest(visit, { untested: unasked })) {
          const test = await testLdap(visit.ctx, input);
          if (!test.ok) return askSettings(visit, test);
        }
        await changeLdap(visit.ctx, input);
        return goTo(visit, at(visit), 'connection-saved');
      },
      refused: (visit) => askSettings(visit),
    }),
    form({
      path: `${of}/test`,
      access: accessTo(testLdap),
      input: key,
      act: async (visit, input) => showConnection(visit, await testLdap(visit.ctx, input)),
      refused: (visit) => showConnection(visit),
    }),
    form({
      path: `${of}/enable`,
      access: accessTo(enableLdap),
      input: key.extend({ untested }),
      act: async (visit, { untested: unasked, ...input }) => {
        await visit.rehearse(enableLdap, input);
        const test = unasked ? null : await testLdap(visit.ctx, input);
        if (test !== null && !test.ok) return showConnection(visit, test, `${at(visit)}/enable`);
        await enableLdap(visit.ctx, input);
        return goTo(visit, at(visit), 'connection-on');
      },
      refused: (visit) => showConnection(visit),
    }),
  ];
}

const path = `${signInPath}/ldap`;

/** The pages that switch the connection off, or remove it. */
export const ldapEndingPages: Page[] = [
  ...endingPages(`${path}/disable`, disableLdap, {
    act: 'Switch off',
    back: path,
    further: (ctx, input) => shutOutBy(ctx, { ...input, change: 'ldap.disable' }),
    reply: (visit) => goTo(visit, at(visit), 'connection-off'),
  }),
  ...endingPages(`${path}/remove`, removeLdap, {
    act: 'Remove connection',
    back: path,
    further: (ctx, input) => shutOutBy(ctx, { ...input, change: 'ldap.remove' }),
    reply: (visit) => goTo(visit, pathOf(visit), 'connection-removed'),
  }),
];

const keyOf = ({ given }: Visit) => parse(key, { org: given['org'] });

/** The connection, or the form for a new one. `anyway` skips a failed test. */
async function showConnection(visit: Visit, test?: Examined, anyway?: string): Promise<ShownPage> {
  const here = keyOf(visit);
  const connection = await ifThere(showLdap(visit.ctx, here));
  if (connection === null) return askSettings(visit);
  const { uri, bindDn, searchBase, searchFilter, groupsAttribute } = connection;
  return sheet(
    visit,
    'Directory',
    html`${test && examinedSection(visit, test, anyway && anywayForm(visit, anyway))}
${stateSection(visit, 'ldap', connection, at(visit))}
<section aria-labelledby="points"><h2 id="points">Server</h2>
${rows([
  { name: ldapWords.uri.label, text: uri },
  { name: ldapWords.bindDn.label, text: bindDn },
  { name: ldapWords.searchBase.label, text: searchBase },
  { name: ldapWords.searchFilter.label, text: searchFilter },
  { name: ldapWords.groupsAttribute.label, text: groupsAttribute ?? 'none' },
])}
<p><a class="button small" href="${at(visit)}/set">Change</a></p></section>
<p><a href="${pathOf(visit)}">All ways to sign in</a></p>`,
  );
}

async function askSettings(visit: Visit, test?: Examined): Promise<ShownPage> {
  const here = keyOf(visit);
  const stored = await ifThere(showLdap(visit.ctx, here));
  const values: Partial<Record<LdapSettingName, unknown>> = stored ?? usual;
  const { shape } = changeLdap.input;
  const fields = Object.entries(shapes).map(([each, of]) => {
    // Object.entries loses the type of the names.
    const name = each as LdapSettingName;
    const described = { words: ldapWords[name], schema: shape[name], value: values[name] };
    const isKept = of.secret === true && stored !== null;
    return settingField(visit, name, described, { ...of, ...(isKept && { optional: true }) });
  });
  const content = html`${fields}
<button type="submit">Save</button>${test && saveAnywayButton(visit)}`;
  return sheet(
    visit,
    stored === null ? 'Connect your directory' : 'Change the directory',
    html`${test && examinedSection(visit, test)}
<section aria-label="Settings">
<p class="quiet">idctl searches the directory with an account that may only read. It does not store the passwords of your people.</p>
${postForm(visit, `${at(visit)}/set`, content)}</section>
<p><a href="${stored === null ? pathOf(visit) : at(visit)}">Back</a></p>`,
  );
}
