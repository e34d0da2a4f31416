import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import type { Context } from '../../src/context.ts';
import { Refusal } from '../../src/errors.ts';
import { surface } from '../../src/http/surface.ts';
import { ruleOf } from '../../src/services/foundation/authority/table.ts';
import { listAllEvents } from '../../src/services/foundation/events/operations.ts';
import {
  listKeys,
  rotateMasterKey,
  rotateSigningKey,
} from '../../src/services/foundation/keys/operations.ts';
import { rotateSamlKeys } from '../../src/services/foundation/keys/saml-key.ts';
import { makeBackup } from '../../src/services/instance/backup/make.ts';
import { testMail } from '../../src/services/instance/mail/test.ts';
import { initialize } from '../../src/services/instance/setup/initialize.ts';
import { showStatus } from '../../src/services/instance/status.ts';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
import {
  createUser,
  disableUser,
  enableUser,
  listUsers,
  setUserPassword,
  unlockUser,
} from '../../src/services/people/users/operations.ts';
import {
  importMappings,
  listMappings,
} from '../../src/services/provisioning/mappings/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import {
  listIdentities,
  unlinkIdentities,
} from '../../src/services/tenancy/identities/operations.ts';
import { disableLdap, enableLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { deleteUser, showUser } from '../../src/services/tenancy/profile/operations.ts';
import { changeProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { disableSso, enableSso } from '../../src/services/tenancy/sso/operations.ts';
import { changeWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { foundCompany } from '../support/company.ts';
import { openInstance } from '../support/instance.ts';

// Each command belongs to a route, which matrix.test.ts tests, or is listed here.

const user = 'victim@acme.test';
const org = 'acme';
const someId = '0198c0de-0000-7000-8000-000000000000';

/** Commands that need no authority: they are about the host, or about stored logins. */
const ofTheHost = [
  'login',
  'logout',
  'server list',
  'server use',
  'serve',
  'migrate',
  'restore',
  'database move',
  'doctor',
  'completion',
  'config show',
  'config check',
  'version',
];

type Act = (ctx: Context) => unknown;

/** Commands without a route, for the operator only. */
const ofTheOperator: Record<string, Act> = {
  init: (ctx) => initialize(ctx, {}),
  backup: (ctx) => makeBackup(ctx, { to: new PassThrough().resume() }),
  'user create': (ctx) => createUser(ctx, { email: 'new@acme.test', name: 'New' }),
  'user list': (ctx) => listUsers(ctx, { limit: 1 }),
  'user show': (ctx) => showUser(ctx, { user }),
  'user disable': (ctx) => disableUser(ctx, { user }),
  'user enable': (ctx) => enableUser(ctx, { user }),
  'user unlock': (ctx) => unlockUser(ctx, { user }),
  'user password': (ctx) => setUserPassword(ctx, { user, password: 'a staple of another kind' }),
  'user totp-reset': (ctx) => resetTotp(ctx, { user, passkeys: false }),
  'user login-link': (ctx) => createLoginLink(ctx, { user }),
  'identity list': (ctx) => listIdentities(ctx, { user, limit: 1 }),
  'identity unlink': (ctx) => unlinkIdentities(ctx, { user }),
  status: (ctx) => showStatus(ctx, {}),
  'mail test': (ctx) => testMail(ctx, { address: 'ada@acme.test' }),
  'domain verify': (ctx) => assertDomain(ctx, { org, domain: 'acme.test' }),
  'event tail': (ctx) => listAllEvents(ctx, { limit: 1 }),
  'key list': (ctx) => listKeys(ctx, { limit: 1 }),
  'key rotate saml': (ctx) => rotateSamlKeys(ctx, { immediately: false }),
  'key rotate signing': (ctx) => rotateSigningKey(ctx, {}),
  'key rotate master': (ctx) => rotateMasterKey(ctx, { prepare: false }),
  'user delete': (ctx) => deleteUser(ctx, { user }),
};

/** Commands without a route of their own, which admins may run. */
const ofAdmins: Record<string, Act> = {
  'project-member role': (ctx) =>
    changeProjectMember(ctx, { org, project: 'website', user, role: 'admin' }),
  'mappings import': (ctx) => importMappings(ctx, { org, mappings: [], replace: false }),
  'mappings export': (ctx) => listMappings(ctx, { org, limit: 1 }),
  'sso enable': (ctx) => enableSso(ctx, { org }),
  'sso disable': (ctx) => disableSso(ctx, { org }),
  'ldap enable': (ctx) => enableLdap(ctx, { org }),
  'webhook disable': (ctx) => changeWebhook(ctx, { org, id: someId, enabled: false }),
  'ldap disable': (ctx) => disableLdap(ctx, { org }),
};

const commands = leaves(await createProgram());
const named = new Set(surface.routes.map(({ cli }) => cli).filter((cli) => cli !== undefined));

function leaves(command: Command, before = ''): string[] {
  return command.commands.flatMap((child) => {
    const spelled = `${before}${child.name()}`;
    return child.commands.length === 0 ? [spelled] : leaves(child, `${spelled} `);
  });
}

/** Runs `act`, and returns the code of its refusal, or null. */
async function refusalOf(act: Act, ctx: Context): Promise<string | null> {
  try {
    await act(ctx);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

test('every route for admins names an existing command', () => {
  const silent = surface.routes.filter(
    ({ access, cli }) => access !== 'public' && /admin|owner/.test(ruleOf(access).least) && !cli,
  );
  expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  expect([...named].filter((name) => !commands.includes(name))).toEqual([]);
});

test('every command belongs to a route or is listed here', () => {
  const here = [ofTheHost, ofTheOperator, ofAdmins].flatMap((list) =>
    Array.isArray(list) ? list : Object.keys(list),
  );
  expect(commands.filter((command) => !named.has(command) && !here.includes(command))).toEqual([]);
});

test('interface page: the operator may run every command without a route, and operator commands refuse everyone else', async () => {
  const instance = await openInstance();
  const company = await foundCompany(instance);
  const as = ({ id, email }: { id: string; email: string }) =>
    instance.as({ kind: 'user', accountId: id, name: email, via: 'session', sessionId: someId });
  for (const [command, act] of Object.entries({ ...ofTheOperator, ...ofAdmins })) {
    const others = {
      anonymous: await refusalOf(act, instance.as({ kind: 'anonymous' })),
      member: await refusalOf(act, as(company.member)),
      owner: command in ofAdmins ? 'forbidden' : await refusalOf(act, as(company.owner)),
    };
    expect([command, others]).toEqual([
      command,
      { anonymous: 'unauthenticated', member: 'forbidden', owner: 'forbidden' },
    ]);
  }
  for (const [command, act] of Object.entries({ ...ofAdmins, ...ofTheOperator })) {
    expect([command, await refusalOf(act, instance.operator())]).not.toEqual([
      command,
      'forbidden',
    ]);
  }
});
