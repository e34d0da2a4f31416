import type { z } from 'zod';
import { Refusal, refuseField } from '../../errors.ts';
import { parse } from '../../input.ts';
import type { ssoView } from '../../services/tenancy/sso/connection.ts';
import { guidedProviders, issuerFrom } from '../../services/tenancy/sso/providers.ts';
import type { SsoSettingName } from '../../services/tenancy/sso/schema.ts';
import { ssoWords } from '../../services/tenancy/sso/words.ts';
import { shellWord } from '../../text/shell-word.ts';
import { approvalFields, requirePassed, tellWaiting, withSecret } from '../connection.ts';
import type { Fields } from '../output.ts';
import { givenSecret, readNamedFile } from '../prompt.ts';
import type { Call } from '../run.ts';
import { fieldsOf } from '../settings.ts';

// `idctl sso set`, and the parts that other commands of `sso` need too.

const operations = () => import('../../services/tenancy/sso/operations.ts');

export type Connection = z.output<typeof ssoView>;

const { metadataXml: _, ...shownWords } = ssoWords;
type ShownName = Exclude<SsoSettingName, 'metadataXml'>;

export const ssoFields: Fields<Connection> = [
  ['Enabled', (view) => view.enabled],
  ...approvalFields,
  ...fieldsOf<ShownName, Connection>(shownWords, {
    kind: (view) => ssoWords.kind.page.values[view.kind],
    clientSecret: (view) => view.hasClientSecret && 'stored',
  }),
  ['Entity ID', (view) => view.entityId],
  ['Sign-in URL', (view) => view.ssoUrl],
  [
    'Certificates',
    (view) =>
      view.certificates?.map(({ fingerprint, notAfter }) => `${fingerprint} until ${notAfter}`),
  ],
  ['Metadata read', (view) => view.metadataReadAt],
];

/** Saves the given settings: creates the connection, changes it, or replaces it by one of the other kind. */
export async function setSso(call: Call): Promise<void> {
  const { changeSso } = await operations();
  const {
    domain,
    force: unasked,
    provider,
    tenant,
    providerUrl,
    samlMetadata,
    ...given
  } = call.input;
  const change: Change = {
    ...given,
    ...(domain === undefined ? {} : { emailDomain: domain }),
    ...issuerOf({ provider, tenant, providerUrl, issuer: given['issuer'] }),
    ...(samlMetadata === undefined ? {} : await metadataFrom(String(samlMetadata))),
  };
  const input = { ...change, ...(await kindOf(call, change)) };
  const view = await withClientSecret(input, async (whole) => {
    const { enabled } = await call.rehearse(changeSso, whole);
    if (enabled && unasked !== true) await requireUsable(call, whole);
    return call.operate(changeSso, whole);
  });
  call.show(view, ssoFields);
  await tellWaiting(call, 'sso', view);
  await tellNext(call, view);
}

/** The metadata of a SAML provider: its URL, or the text of a file. */
export async function metadataFrom(given: string): Promise<Change> {
  if (/^https?:\/\//i.test(given)) return { metadataUrl: given };
  return { metadataXml: String(await readNamedFile('--saml-metadata', given)) };
}

type Change = Record<string, unknown>;

/** The kind, if the change gives the connection another one. Asks before it replaces a connection. */
async function kindOf(call: Call, { secretStdin: _, secretFile: __, ...change }: Change) {
  const { changeSso } = await operations();
  const { issuer, metadataUrl, metadataXml } = parse(changeSso.input, change);
  const isSaml = metadataUrl !== undefined || metadataXml !== undefined;
  if (isSaml && issuer !== undefined)
    throw refuseField('samlMetadata', 'cannot be combined with --issuer or --provider');
  if (!isSaml && issuer === undefined) return {};
  const kind = isSaml ? 'saml' : 'oidc';
  const stored = await findConnection(call);
  if ((stored?.kind ?? 'oidc') === kind) return {};
  if (stored !== null) {
    const { providerOf } = await import('../../services/tenancy/sso/connection.ts');
    const { values } = ssoWords.kind.page;
    await call.confirm(
      `Replace the ${values[stored.kind]} connection to ${providerOf(stored)} by one with ${values[kind]}?`,
    );
  }
  return { kind };
}

async function findConnection(call: Call): Promise<Connection | null> {
  const { org } = call.input;
  try {
    return await call.operate((await operations()).showSso, { org });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return null;
    throw error;
  }
}

/** The issuer that follows from a provider and the value that it shows. */
function issuerOf({ provider, tenant, providerUrl, issuer }: Record<string, unknown>) {
  const field = tenant === undefined ? 'providerUrl' : 'tenant';
  const value = tenant ?? providerUrl;
  if (provider === undefined) {
    if (value !== undefined) throw refuseField(field, 'needs --provider');
    return {};
  }
  const name = guidedProviders.find((one) => one === provider);
  if (name === undefined)
    throw refuseField('provider', `must be one of ${guidedProviders.join(', ')}`);
  if (issuer !== undefined) throw refuseField('issuer', 'cannot be combined with --provider');
  if (tenant !== undefined && providerUrl !== undefined)
    throw refuseField('tenant', 'cannot be combined with --provider-url');
  const asked = value === undefined && name !== 'keycloak' ? 'tenant' : field;
  return { issuer: issuerFrom(name, value === undefined ? undefined : String(value), asked) };
}

/** Names the next step: add the domain, verify it, or enable the connection. */
async function tellNext(call: Call, { emailDomain, enabled }: Connection): Promise<void> {
  if (enabled || emailDomain === null) return;
  const org = String(call.input['org']);
  const about = `${shellWord(emailDomain)} --org ${shellWord(org)}`;
  const next = (command: string) => `Next:\n  ${call.here(command)}`;
  if (await mayEnable(call, org))
    return call.note(next(`idctl sso enable --org ${shellWord(org)}`));
  const { listDomains } = await import('../../services/tenancy/domains/operations.ts');
  const domains = await call.every(listDomains, { org });
  const isAdded = domains.some(({ domain }) => domain === emailDomain);
  if (isAdded)
    call.note(`${emailDomain} is not verified yet. ${next(`idctl domain verify ${about}`)}`);
  else call.note(`${org} has not added ${emailDomain}. ${next(`idctl domain add ${about}`)}`);
}

/** Whether the domain of the connection is trusted, so that the connection can be enabled. */
async function mayEnable(call: Call, org: string): Promise<boolean> {
  try {
    await call.rehearse((await operations()).enableSso, { org });
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'domain_unverified') return false;
    throw error;
  }
}

/** Tests the provider with these settings. Asks if a step fails. */
export async function requireUsable(call: Call, input: Record<string, unknown>): Promise<void> {
  const { testSso } = await import('../../services/tenancy/sso/test.ts');
  await requirePassed(call, 'provider', await call.operate(testSso, input));
}

/** Runs `work` with the given client secret. If only the secret is missing, asks for it. */
export async function withClientSecret<View>(
  { secretStdin: stdin, secretFile: file, ...input }: Record<string, unknown>,
  work: (input: Record<string, unknown>) => Promise<View>,
): Promise<View> {
  const secret = await givenSecret({ name: 'secret', stdin, file });
  return withSecret({ name: 'clientSecret', question: 'Client secret', secret }, (clientSecret) =>
    work({ ...input, clientSecret }),
  );
}
