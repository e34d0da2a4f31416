import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { listAttempts } from '../../../../services/signin/attempts.ts';
import { reasonSentence } from '../../../../services/signin/reason-words.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
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
import { chooseKind, formPath, otherKind, placesList, providerFormPages } from './provider-form.ts';
import { samlPlaces } from './provider-saml.ts';
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
    ...common,
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

/** The connection, or the choice of a protocol if there is none. `anyway` skips a failed test. */
async function showConnection(visit: Visit, test?: Examined, anyway?: string): Promise<ShownPage> {
  const here = keyOf(visit);
  const connection = await ifThere(showSso(visit.ctx, here));
  if (connection === null) return chooseKind(visit);
  // A setup link does not change these settings while people sign in through the connection.
  const isKept = isBehindLink(visit) && connection.enabled;
  return sheet(
    visit,
    'Single sign-on',
    html`${test && examinedSection(visit, test, anyway && anywayForm(visit, anyway))}
${stateSection(visit, 'sso', connection, at(visit))}
<section aria-labelledby="points"><h2 id="points">Provider</h2>
${rows([...providerRows(connection, visit.ctx.now), { name: ssoWords.emailDomain.label, text: connection.emailDomain ?? 'none' }])}
<p><a class="button small" href="${at(visit)}/${formPath[connection.kind]}">Change</a></p>
${!isKept && html`<p><a href="${at(visit)}/${formPath[otherKind[connection.kind]]}">Use ${ssoWords.kind.page.values[otherKind[connection.kind]]} instead</a></p>`}</section>
${connection.kind === 'saml' && (await ourSection(visit))}
${!isKept && furtherSection(visit, connection, at(visit))}
${!isBehindLink(visit) && (await attemptsSection(visit))}
<p><a href="${pathOf(visit)}">All ways to sign in</a></p>`,
  );
}

/** Which provider the connection trusts. */
function providerRows(connection: Connection, now: Date) {
  const { kind, issuer = '', clientId = '', redirectUri = '' } = connection;
  if (kind === 'oidc') {
    return [
      { name: ssoWords.issuer.page.label, text: issuer },
      { name: ssoWords.clientId.label, text: clientId },
      { name: ssoWords.redirectUri.label, text: redirectUri },
    ];
  }
  const { certificates = [], entityId = '', ssoUrl = '', metadataUrl } = connection;
  return [
    { name: ssoWords.kind.page.label, text: ssoWords.kind.page.values.saml },
    { name: 'Entity ID', text: entityId },
    { name: 'Sign-in URL', text: ssoUrl },
    {
      name: ssoWords.metadataUrl.page.label,
      text: metadataUrl ?? ssoWords.metadataUrl.page.values.null,
    },
    ...certificates.map(({ fingerprint, notAfter }) => ({
      name: 'Certificate',
      text: fingerprint,
      facts: [`${new Date(notAfter) > now ? 'Valid until' : 'Expired on'} ${dayText(notAfter)}`],
    })),
    ...attributeRows(connection),
  ];
}

/** Which attributes the connection reads, and whether it takes encrypted assertions. */
function attributeRows(connection: Connection) {
  const names = ['emailAttribute', 'groupsAttribute', 'subjectAttribute'] as const;
  const { label, values } = ssoWords.encryptAssertions.page;
  return [
    ...names.map((name) => {
      const { page } = ssoWords[name];
      return { name: page.label, text: connection[name] ?? page.values.null };
    }),
    { name: label, text: values[connection.encryptAssertions === true ? 'true' : 'false'] },
  ];
}

/** What the provider has to know of this site. */
async function ourSection(visit: Visit): Promise<Html> {
  const { id } = await showOrganization(visit.ctx, keyOf(visit));
  return html`<section aria-labelledby="ours"><h2 id="ours">At the provider</h2>
<p>Enter these values there. A provider that reads metadata needs only its URL.</p>
${placesList(samlPlaces(visit.ctx, id))}</section>`;
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
    return settingField(visit, name, { words: ssoWords[setting], schema, value });
  });
  return html`<section aria-labelledby="further"><h2 id="further">Groups and second factor</h2>
${postForm(visit, `${of}/settings`, html`${fields}<button type="submit">Save settings</button>`)}</section>`;
}
