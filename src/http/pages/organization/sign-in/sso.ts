import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { listAttempts } from '../../../../services/signin/attempts.ts';
import { reasonSentence } from '../../../../services/signin/reason-words.ts';
import {
  changeSso,
  disableSso,
  enableSso,
  removeSso,
  showSso,
} from '../../../../services/tenancy/sso/operations.ts';
import { testSso } from '../../../../services/tenancy/sso/test.ts';
import { ssoWords } from '../../../../services/tenancy/sso/words.ts';
import { dayText, minuteText } from '../../../../text/dates.ts';
import { type Html, html } from '../../html.ts';
import { accessTo, form, type Page, page, type ShownPage, type Visit } from '../../page.ts';
import { postForm } from '../../parts.ts';
import { badge, rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import { anywayForm, type Examined, examinedSection, stateSection } from './connection.ts';
import { ifThere } from './if-there.ts';
import { isBehindLink, pathOf } from './path.ts';
import { chooseProvider, providerFormPages } from './provider-form.ts';
import { settingField } from './setting.ts';
import { switchingForms, switchingOffPages } from './switching.ts';

const at = (visit: Visit) => `${pathOf(visit)}/sso`;
const { org } = showSso.input.shape;
const key = z.strictObject({ org });

type Connection = Awaited<ReturnType<typeof showSso>>;

const common = { syncOnLogin: true, autoRemove: true, absentGroups: true } as const;

/** The settings of each kind that a form of their own changes, besides where it points. */
const further = {
  oidc: changeSso.input.pick({
    groupsClaim: true,
    ...common,
    ignoreEmailVerified: true,
    requireLocalTwoFactor: true,
  }),
  saml: changeSso.input.pick({
    groupsAttribute: true,
    ...common,
    encryptAssertions: true,
    requireLocalTwoFactor: true,
  }),
};
const furtherInput = further.oidc.extend({ ...further.saml.shape, org });

/** The pages on which an organization connects its provider. */
export function ssoPages(base: string): Page[] {
  const of = `${base}/sso`;
  return [
    page({
      path: of,
      access: accessTo(showSso),
      input: key.extend({ done: z.string().max(50).optional() }),
      show: (visit) => showConnection(visit),
    }),
    ...providerFormPages(of),
    form({
      path: `${of}/settings`,
      access: accessTo(changeSso),
      input: furtherInput,
      act: async (visit, input) => {
        await changeSso(visit.ctx, input);
        return goTo(visit, at(visit), 'connection-saved');
      },
      refused: (visit) => showConnection(visit),
    }),
    ...switchingForms(of, 'sso', { test: testSso, enable: enableSso, show: showConnection }),
  ];
}

/** The pages that switch the connection off, or remove it. */
export const ssoEndingPages: Page[] = switchingOffPages('sso', disableSso, removeSso);

const keyOf = ({ given }: Visit) => parse(key, { org: given['org'] });

/** The connection, or the choice of a provider if there is none. `anyway` skips a failed test. */
async function showConnection(visit: Visit, test?: Examined, anyway?: string): Promise<ShownPage> {
  const here = keyOf(visit);
  const connection = await ifThere(showSso(visit.ctx, here));
  if (connection === null) return chooseProvider(visit);
  return sheet(
    visit,
    'Single sign-on',
    html`${test && examinedSection(visit, test, anyway && anywayForm(visit, anyway))}
${stateSection(visit, 'sso', connection, at(visit))}
<section aria-labelledby="points"><h2 id="points">Provider</h2>
${rows([...providerRows(connection), { name: ssoWords.emailDomain.label, text: connection.emailDomain ?? 'none' }])}
<p><a class="button small" href="${at(visit)}/set">Change</a></p></section>
${!(isBehindLink(visit) && connection.enabled) && furtherSection(visit, connection, at(visit))}
${!isBehindLink(visit) && (await attemptsSection(visit))}
<p><a href="${pathOf(visit)}">All ways to sign in</a></p>`,
  );
}

/** Which provider the connection trusts. */
function providerRows(connection: Connection) {
  const { kind, issuer = '', clientId = '', redirectUri = '' } = connection;
  if (kind === 'oidc') {
    return [
      { name: ssoWords.issuer.page.label, text: issuer },
      { name: ssoWords.clientId.label, text: clientId },
      { name: ssoWords.redirectUri.label, text: redirectUri },
    ];
  }
  const { certificates = [], entityId = '', ssoUrl = '', metadataUrl } = connection;
  const until = ({ notAfter }: { notAfter: string }) => `Valid until ${dayText(notAfter)}`;
  return [
    { name: ssoWords.kind.page.label, text: ssoWords.kind.page.values.saml },
    { name: 'Entity ID', text: entityId },
    { name: 'Sign-in URL', text: ssoUrl },
    {
      name: ssoWords.metadataUrl.page.label,
      text: metadataUrl ?? ssoWords.metadataUrl.page.values.null,
    },
    ...certificates.map((one) => ({
      name: 'Certificate',
      text: one.fingerprint,
      facts: [until(one)],
    })),
  ];
}

async function attemptsSection(visit: Visit): Promise<Html> {
  const { items } = await listAttempts(visit.ctx, { ...keyOf(visit), limit: 10 });
  return html`<section aria-labelledby="attempts"><h2 id="attempts">Last sign-ins</h2>
${rows(items.map(attemptRow), 'No one has tried to sign in through it in the last seven days.')}</section>`;
}

function attemptRow({
  at: when,
  ok,
  email,
  code,
  stage,
}: Awaited<ReturnType<typeof listAttempts>>['items'][number]) {
  const why = code === undefined ? '' : reasonSentence(code, { stage });
  return {
    name: email ?? 'An unknown person',
    mark: badge(ok ? 'signed in' : 'refused'),
    facts: [minuteText(when), ok ? '' : why],
  };
}

function furtherSection(visit: Visit, connection: Connection, of: string): Html {
  const fields = Object.entries(further[connection.kind].shape).map(([name, schema]) => {
    // Object.entries loses the type of the names.
    const setting = name as keyof typeof furtherInput.shape & keyof typeof ssoWords;
    const value = connection[setting];
    const may = setting === 'groupsAttribute' ? { optional: true as const } : {};
    return settingField(visit, name, { words: ssoWords[setting], schema, value }, may);
  });
  return html`<section aria-labelledby="further"><h2 id="further">Groups and second factor</h2>
${postForm(visit, `${of}/settings`, html`${fields}<button type="submit">Save settings</button>`)}</section>`;
}
