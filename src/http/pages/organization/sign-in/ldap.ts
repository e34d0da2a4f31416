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
import { html } from '../../html.ts';
import { accessTo, form, type Page, page, type ShownPage, type Visit } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import {
  anywayForm,
  type Examined,
  examinedSection,
  notSaved,
  saveAnywayButton,
  stateSection,
} from './connection.ts';
import { ifThere } from './if-there.ts';
import { pathOf } from './path.ts';
import { settingField } from './setting.ts';
import { findFault, switchingForms, switchingOffPages } from './switching.ts';

const at = (visit: Visit) => `${pathOf(visit)}/ldap`;
const key = z.strictObject({ org: showLdap.input.shape.org });

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
      input: changeLdap.input.extend({ untested: z.boolean().optional() }),
      act: async (visit, { untested, ...given }) => {
        const input = parse(changeLdap.input, { ...none, ...given });
        const { enabled } = await visit.rehearse(changeLdap, input);
        const fault = await findFault(visit, { enabled, untested }, () =>
          testLdap(visit.ctx, input),
        );
        if (fault !== null) return askSettings(visit, fault);
        await changeLdap(visit.ctx, input);
        return goTo(visit, at(visit), 'connection-saved');
      },
      refused: (visit) => askSettings(visit),
    }),
    ...switchingForms(of, 'ldap', { test: testLdap, enable: enableLdap, show: showConnection }),
  ];
}

/** The pages that switch the connection off, or remove it. */
export const ldapEndingPages: Page[] = switchingOffPages('ldap', disableLdap, removeLdap);

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

async function askSettings(asked: Visit, test?: Examined): Promise<ShownPage> {
  const visit = { ...asked, keeps: test !== undefined };
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
    html`${test && examinedSection(visit, test, notSaved)}
<section aria-label="Settings">
<p class="quiet">idctl searches the directory with an account that may only read. It does not store the passwords of your people.</p>
${postForm(visit, `${at(visit)}/set`, content)}</section>
<p><a href="${stored === null ? pathOf(visit) : at(visit)}">Back</a></p>`,
  );
}
