import type { Command } from 'commander';
import type { z } from 'zod';
import type { attemptView } from '../../services/signin/attempts.ts';
import type { ssoRelinkedView } from '../../services/tenancy/sso/connection.ts';
import { guidedProviders } from '../../services/tenancy/sso/providers.ts';
import { ssoWords } from '../../services/tenancy/sso/words.ts';
import { persons } from '../../text/words.ts';
import { noun, org, verb } from '../command.ts';
import {
  approveConnection,
  disableConnection,
  enableConnection,
  force,
  relinkPeople,
  removeConnection,
  tellWaiting,
} from '../connection.ts';
import { sessionsEndedField } from '../consequences.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import type { Fields } from '../output.ts';
import { optionsOf } from '../settings.ts';
import { metadataFrom, requireUsable, setSso, ssoFields, withClientSecret } from './sso-set.ts';

const operations = () => import('../../services/tenancy/sso/operations.ts');
const tests = () => import('../../services/tenancy/sso/test.ts');

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
    run: setSso,
  });
  verb(sso, 'show', {
    summary: 'Show the connection, without its secret',
    required: org,
    example: 'idctl sso show --org acme',
    run: async (call) => call.perform((await operations()).showSso, ssoFields),
  });
  verb(sso, 'enable', {
    summary: 'Let people sign in; the domain must be verified',
    required: org,
    example: 'idctl sso enable --org acme',
    detail: 'It tests the provider first, as idctl sso test does. If a step fails, it asks.',
    options: force('provider'),
    run: async (call) => {
      const { enableSso } = await operations();
      const view = await enableConnection(call, enableSso, ssoFields, requireUsable);
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
        fields: ssoFields,
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
        fields: ssoFields,
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
      await call.perform(refreshSso, ssoFields);
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
        fields: ssoFields,
        change: 'sso.remove',
      }),
  });
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
