import type { Command } from 'commander';
import type { z } from 'zod';
import type { clientView, newClientView } from '../../services/tenancy/clients/client.ts';
import { clientWords } from '../../services/tenancy/clients/words.ts';
import { noun, org, verb } from '../command.ts';
import { type Hiding, ifFound, make, performSecret } from '../making.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';
import { changesOf, fieldsOf, optionsOf } from '../settings.ts';

const operations = () => import('../../services/tenancy/clients/operations.ts');

type Client = z.output<typeof clientView>;
type New = Hiding<z.output<typeof newClientView>, 'clientSecret'>;

const block: Fields<Client> = [
  ['Client ID', (view) => view.clientId],
  ...fieldsOf<keyof typeof clientWords, Client>(clientWords),
  ['Issuer', (view) => view.issuer],
  ['Discovery', (view) => view.discoveryUrl],
  ['Created', (view) => view.createdAt],
  ['Secret refused since', (view) => view.suspendedAt],
];

const made: Fields<New> = [['Client secret', (view) => view.clientSecret], ...block];

const row: Fields<Client> = [
  ['Name', (view) => view.name],
  ['Project', (view) => view.project],
  ['Secret', secretOf],
  ['Addresses', (view) => [...view.redirectUris, ...view.forwardAuthOrigins], 'broken'],
];

function secretOf(view: Client): string {
  if (view.suspendedAt !== undefined) return 'suspended';
  return view.public || view.redirectUris.length === 0 ? 'none' : 'stored';
}

export function addClientCommands(program: Command): void {
  const client = noun(program, 'client', {
    summary: 'Applications that people sign in to (also: application)',
    example: 'idctl client list --org acme',
  });
  verb(client, 'create <name>', {
    summary: 'Create a client for an application; --quiet prints only its secret',
    required: org,
    options: {
      ...optionsOf(clientWords),
      '--public': 'no secret, for a program on a device or in a browser',
      '--no-pkce': 'do not require PKCE; the client needs a secret (for Gitea)',
    },
    makes: true,
    example:
      'idctl client create Wiki --org acme \\\n      --redirect-uri https://wiki.acme.com/callback',
    run: create,
  });
  verb(client, 'list', {
    summary: 'List the clients',
    required: org,
    example: 'idctl client list --org acme',
    run: async (call) => call.list((await operations()).listClients, row, 'There are no clients.'),
  });
  verb(client, 'show <client>', {
    summary: 'Show a client, by its client id or name, without its secret',
    required: org,
    example: 'idctl client show Grafana --org acme',
    run: async (call) => call.perform((await operations()).showClient, block),
  });
  verb(client, 'set <client>', {
    summary: 'Change the given settings of a client; a given list replaces the old one',
    required: org,
    options: {
      '--name <name>': 'the new name',
      ...changesOf(clientWords),
      '--add-redirect-uri <uri...>': 'add these, and keep the others',
      '--remove-redirect-uri <uri...>': 'remove these, and keep the others',
      '--add-post-logout-redirect-uri <uri...>': 'add these, and keep the others',
      '--remove-post-logout-redirect-uri <uri...>': 'remove these, and keep the others',
      '--add-forward-auth-origin <origin...>': 'add these, and keep the others',
      '--remove-forward-auth-origin <origin...>': 'remove these, and keep the others',
      '--public': 'no secret; deletes the one it has',
      '--no-public': 'require a secret: idctl client rotate creates one',
      '--pkce': 'require PKCE (default)',
      '--no-pkce': 'do not require PKCE',
    },
    rehearsable: true,
    example:
      'idctl client set Grafana --org acme \\\n      --add-redirect-uri https://new.acme.com/login/generic_oauth',
    run: async (call) => {
      const { changeClient } = await operations();
      await call.perform(changeClient, block, settingsOf(call.input));
    },
  });
  verb(client, 'rotate <client>', {
    summary: 'Give a client a new secret; the old one stops immediately',
    required: org,
    rehearsable: true,
    example: 'idctl client rotate Grafana --org acme --yes',
    run: async (call) =>
      performSecret(call, (await operations()).rotateClient, {
        fields: made,
        secret: 'clientSecret',
      }),
  });
  verb(client, 'test <client>', {
    summary: 'Test a client step by step; exit 1 if a step fails',
    required: org,
    options: { '--user <email>': 'also test the sign-in of this member, and roll it back' },
    example: 'idctl client test Grafana --org acme --user ada@acme.com',
    run: async (call) => {
      const { testClient } = await import('../../services/signin/provider/test.ts');
      const view = await call.operate(testClient);
      await tellOlderDaemon(call);
      call.examination(view);
      if (view.claims !== null && !call.flags.json)
        call.print(`\nThe ID token says:\n${JSON.stringify(view.claims, null, 2)}\n`);
    },
  });
  verb(client, 'remove <client>', {
    summary: 'Remove a client, and end sign-ins through it',
    required: org,
    destroys: true,
    example: 'idctl client remove Grafana --org acme --yes',
    run: async (call) =>
      call.destroy((await operations()).removeClient, {
        fields: block,
      }),
  });
}

async function create(call: Call): Promise<void> {
  const { createClient, showClient } = await operations();
  const { pkce, ...given } = settingsOf(call.input);
  await make<New>(call, createClient, {
    // Commander sets `pkce` to true if --no-pkce is absent.
    input: pkce === false ? { ...given, pkce } : given,
    fields: made,
    secret: 'clientSecret',
    find: async ({ org, name }) => {
      const found = await ifFound(call.operate(showClient, { org, client: name }));
      return found && { ...found, clientSecret: null };
    },
    has: (view) => ({ ...view }),
  });
}

/** The operations name a list in the plural, and an option names one entry. */
const lists = ['redirectUri', 'postLogoutRedirectUri', 'forwardAuthOrigin'].flatMap((name) => {
  const ending = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return [name, `add${ending}`, `remove${ending}`];
});

/** The settings by their names in the operations. `--no-…` empties a list, a project or a URI. */
function settingsOf(input: Record<string, unknown>): Record<string, unknown> {
  const given = { ...input };
  for (const option of lists) {
    if (given[option] !== undefined)
      given[`${option}s`] = given[option] === false ? [] : given[option];
    delete given[option];
  }
  for (const field of ['homeUrl', 'project', 'backchannelLogoutUri'])
    if (given[field] === false) given[field] = null;
  return given;
}
