import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal, refuseField } from '../../errors.ts';
import { parse } from '../../input.ts';
import type { attemptView } from '../../services/signin/attempts.ts';
import type { ssoRelinkedView, ssoView } from '../../services/tenancy/sso/connection.ts';
import { guidedProviders, issuerFrom } from '../../services/tenancy/sso/providers.ts';
import type { SsoSettingName } from '../../services/tenancy/sso/schema.ts';
import { ssoWords } from '../../services/tenancy/sso/words.ts';
import { shellWord } from '../../text/shell-word.ts';
import { persons } from '../../text/words.ts';
import { noun, org, verb } from '../command.ts';
import {
  approvalFields,
  approveConnection,
  disableConnection,
  enableConnection,
  force,
  relinkPeople,
  removeConnection,
  requirePassed,
  tellWaiting,
  withSecret,
} from '../connection.ts';
import { sessionsEndedField } from '../consequences.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import type { Fields } from '../output.ts';
import { givenSecret, readNamedFile } from '../prompt.ts';
import type { Call } from '../run.ts';
import { fieldsOf, optionsOf } from '../settings.ts';

const operations = () => import('../../services/tenancy/sso/operations.ts');
const tests = () => import('../../services/tenancy/sso/test.ts');

type Connection = z.output<typeof ssoView>;

const { metadataXml: _, ...shownWords } = ssoWords;
type ShownName = Exclude<SsoSettingName, 'metadataXml'>;

const fields: Fields<Connection> = [
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

export function addSsoCommands(program: Command): void {
  const sso = noun(program, 'sso', {
    summary: 'Single sign-on of an organization (OpenID Connect or SAML)',
    example: 'idctl sso show --org acme',
  });
  verb(sso, 'set', {
    summary: 'Create the connection, or change the given settings',
    required: org,
    options: {
      ...optionsOf(ssoWords),
      '--provider <name>': guidedProviders.join(', '),
      '--tenant <name>': 'the tenant or domain at that provider',
      '--provider-url <url>': 'the URL of the Keycloak realm',
      '--secret-stdin': 'read the client secret from standard input',
      '--secret-file <file>': 'read the client secret from a file',
      ...force('provider'),
    },
    detail:
      'If the connection is enabled, it tests the provider first, and asks if a step fails. It asks before OpenID Connect replaces SAML, or SAML it.',
    example: `idctl sso set --org acme --domain acme.com \\
      --issuer https://id.acme.com --client-id idctl --secret-stdin <secret`,
    run: set,
  });
  verb(sso, 'show', {
    summary: 'Show the connection, without its secret',
    required: org,
    example: 'idctl sso show --org acme',
    run: async (call) => call.perform((await operations()).showSso, fields),
  });
  verb(sso, 'enable', {
    summary: 'Let people sign in; the domain must be verified',
    required: org,
    example: 'idctl sso enable --org acme',
    detail: 'It tests the provider first, as idctl sso test does. If a step fails, it asks.',
    options: force('provider'),
    run: async (call) => {
      const { enableSso } = await operations();
      const view = await enableConnection(call, enableSso, fields, requireUsable);
      await tellWaiting(call, 'sso', view);
    },
  });
  verb(sso, 'disable', {
    summary: 'Stop new sign-ins; the connection stays',
    required: org,
    rehearsable: true,
    example: 'idctl sso disable --org acme --yes',
    run: async (call) =>
      disableConnection(call, (await operations()).disableSso, {
        fields,
        change: 'sso.disable',
      }),
  });
  verb(sso, 'approve', {
    summary: 'Let owners sign in through it: approve where the connection points',
    required: org,
    rehearsable: true,
    detail:
      'If another person or a token changed where a connection points, an owner must approve it. Until then, owners cannot sign in through it. A token cannot approve: an owner approves on the account page, or the operator runs this command on the host.',
    example: 'idctl sso approve --org acme --yes',
    run: async (call) => {
      const { approveSso, showSso } = await operations();
      const { providerOf } = await import('../../services/tenancy/sso/connection.ts');
      await approveConnection(call, {
        show: showSso,
        approve: approveSso,
        fields,
        called: providerOf,
      });
    },
  });
  verb(sso, 'test', {
    summary: 'Test the provider step by step; exit 1 if a step fails',
    required: org,
    options: {
      '--issuer <url>': 'test this provider instead of the stored one',
      '--client-id <id>': 'test this client instead of the stored one',
      '--secret-stdin': 'read the client secret from standard input',
      '--secret-file <file>': 'read the client secret from a file',
      '--redirect-uri <uri>': 'test this redirect URI instead of the stored one',
      '--saml-metadata <url|file>': 'test this SAML provider instead of the stored one',
    },
    example: 'idctl sso test --org acme',
    run: async (call) => {
      const { testSso } = await tests();
      const { samlMetadata, ...given } = call.input;
      const metadata = samlMetadata === undefined ? {} : await metadataFrom(String(samlMetadata));
      const view = await withClientSecret({ ...given, ...metadata }, (input) =>
        call.operate(testSso, input),
      );
      await tellOlderDaemon(call);
      call.examination(view);
    },
  });
  verb(sso, 'refresh', {
    summary: 'Read the metadata of a SAML provider again, at its URL',
    required: org,
    rehearsable: true,
    detail: 'The daemon also does this every day.',
    example: 'idctl sso refresh --org acme',
    run: async (call) => {
      const { refreshSso } = await import('../../services/tenancy/sso/refresh.ts');
      await call.perform(refreshSso, fields);
    },
  });
  verb(sso, 'attempts', {
    summary: 'List the last sign-in attempts, newest first; they are kept 7 days',
    required: org,
    options: { '--reference <id>': 'the reference on the error page that the person saw' },
    example: 'idctl sso attempts --org acme',
    run: async (call) => {
      const { attemptDays, listAttempts } = await import('../../services/signin/attempts.ts');
      const { reference } = call.input;
      const kept = `Check the reference. Attempts are kept ${attemptDays} days.`;
      const unknown = `No attempt has the reference ${String(reference)}. ${kept}`;
      const none = reference === undefined ? 'No sign-in attempts yet.' : unknown;
      await call.list(listAttempts, attempt, none);
    },
  });
  verb(sso, 'relink', {
    summary: 'After a change of provider, link people again at their next sign-in',
    required: { ...org, '--from-issuer <url>': 'the issuer URL of the previous provider' },
    rehearsable: true,
    example: 'idctl sso relink --org acme --from-issuer https://id.acme.com --dry-run',
    run: async (call) => {
      const { relinkSso } = await import('../../services/tenancy/sso/relink.ts');
      await relinkPeople(call, relinkSso, {
        fields: relinked,
        question: ({ people, fromIssuer, issuer }) =>
          `Unlink the identities of ${persons(people)} at ${fromIssuer}? The next sign-in links the account that has the address from ${issuer}.`,
      });
    },
  });
  verb(sso, 'remove', {
    summary: 'Remove the connection and end its sessions; accounts stay',
    required: org,
    destroys: true,
    example: 'idctl sso remove --org acme --yes',
    run: async (call) =>
      removeConnection(call, (await operations()).removeSso, {
        fields,
        change: 'sso.remove',
      }),
  });
}

async function set(call: Call): Promise<void> {
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
  call.show(view, fields);
  await tellWaiting(call, 'sso', view);
  await tellNext(call, view);
}

/** The metadata of a SAML provider: its URL, or the text of a file. */
async function metadataFrom(given: string): Promise<Change> {
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
async function requireUsable(call: Call, input: Record<string, unknown>): Promise<void> {
  const { testSso } = await tests();
  await requirePassed(call, 'provider', await call.operate(testSso, input));
}

/** Runs `work` with the given client secret. If only the secret is missing, asks for it. */
async function withClientSecret<View>(
  { secretStdin: stdin, secretFile: file, ...input }: Record<string, unknown>,
  work: (input: Record<string, unknown>) => Promise<View>,
): Promise<View> {
  const secret = await givenSecret({ name: 'secret', stdin, file });
  return withSecret({ name: 'clientSecret', question: 'Client secret', secret }, (clientSecret) =>
    work({ ...input, clientSecret }),
  );
}

const attempt: Fields<z.output<typeof attemptView>> = [
  ['At', (view) => view.at],
  ['Result', (view) => (view.ok ? 'signed in' : view.code), 'whole'],
  ['Stage', (view) => view.stage],
  ['E-mail', (view) => view.email],
  ['Groups', (view) => (view.groups === null ? 'not readable' : view.groups), 'below'],
  ['Reference', (view) => view.reference, 'below'],
];

const relinked: Fields<z.output<typeof ssoRelinkedView>> = [
  ['Old issuer', (view) => view.fromIssuer],
  ['Issuer now', (view) => view.issuer],
  ['People', (view) => view.people],
  sessionsEndedField,
];
