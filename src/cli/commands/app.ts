import type { Command } from 'commander';
import type { z } from 'zod';
import type { appView, newAppView } from '../../services/people/apps/app.ts';
import { noun, user, verb } from '../command.ts';
import { type Hiding, make, performSecret } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/apps/operations.ts');

type App = z.output<typeof appView>;

const block: Fields<App> = [
  ['Name', (view) => view.name],
  ['Client ID', (view) => view.clientId],
  ['Organization', (view) => view.organization?.slug ?? null],
  ['Created', (view) => view.createdAt],
  ['ID', (view) => view.id],
];

type New = Hiding<z.output<typeof newAppView>, 'clientSecret'>;

const made: Fields<New> = [['Client secret', (view) => view.clientSecret], ...block];

const row: Fields<App> = [
  ['Name', (view) => view.name],
  ['Client ID', (view) => view.clientId, 'whole'],
  ['Org', (view) => view.organization?.slug ?? null],
  ['Created', (view) => (view.suspendedAt === undefined ? view.createdAt : 'suspended')],
  ['ID', (view) => view.id, 'whole'],
];

const org = '--org <org>';

export function addAppCommands(program: Command): void {
  const app = noun(program, 'app', {
    summary: 'Bots: programs that act as their owner (also: bot)',
    example: 'idctl app list --user ada@example.com',
  });
  verb(app, 'create', {
    summary: 'Register an app for an account; --quiet prints only its secret',
    required: { ...user, '--name <name>': 'the name of the app' },
    options: { [org]: 'the organization whose tokens it may introspect' },
    makes: true,
    example: 'idctl app create --user ada@example.com --name builder',
    run: create,
  });
  verb(app, 'set <id>', {
    summary: 'Name the organization whose tokens an app may introspect',
    required: { [org]: 'an organization that the owner of the app administers' },
    options: user,
    example: 'idctl app set 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 --org acme',
    run: async (call) => {
      const { changeApp } = await operations();
      const { org: organization, ...input } = call.input;
      call.show(await call.operate(changeApp.forOperator, { ...input, organization }), block);
    },
  });
  verb(app, 'list', {
    summary: 'List the apps of an account, without their secrets',
    required: user,
    example: 'idctl app list --user ada@example.com',
    run: async (call) =>
      call.list((await operations()).listApps.forOperator, row, 'There are no apps.'),
  });
  verb(app, 'regenerate <id>', {
    summary: 'Give an app a new secret; the old one and its tokens stop immediately',
    options: user,
    rehearsable: true,
    example: 'idctl app regenerate 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 --yes',
    run: async (call) =>
      performSecret(call, (await operations()).regenerateApp.forOperator, {
        fields: made,
        secret: 'clientSecret',
        question: ({ name }) =>
          `Give the app ${name} a new secret? The old one and the app's tokens stop immediately.`,
      }),
  });
  verb(app, 'revoke <id>', {
    summary: 'Revoke an app and its tokens for good',
    options: { ...user, '--keep-tokens': 'leave its tokens until they expire' },
    destroys: true,
    example: 'idctl app revoke 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 --yes',
    run: async (call) => {
      const { revokeApp } = await operations();
      const keepTokens = call.input['keepTokens'] === true;
      await call.destroy(revokeApp.forOperator, {
        input: { ...call.input, keepTokens: String(keepTokens) },
        fields: block,
      });
    },
  });
}

async function create(call: Call): Promise<void> {
  const { listApps, registerApp } = await operations();
  const { org: organization, ...input } = call.input;
  await make<New>(call, registerApp.forOperator, {
    input: { ...input, organization },
    fields: made,
    secret: 'clientSecret',
    repeats: true,
    find: async ({ user, name }) => {
      const apps = await call.every(listApps.forOperator, { user });
      const found = apps.find((app) => app.name === name);
      return found && { ...found, clientSecret: null };
    },
    // The organization may be given by its id or its slug.
    has: ({ organization: one }, given) => ({
      organization: one?.id === given['organization'] ? one?.id : (one?.slug ?? null),
    }),
  });
}
