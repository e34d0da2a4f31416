import type { Command } from 'commander';
import type { z } from 'zod';
import type { scimGroupView } from '../../services/provisioning/scim/groups/admin.ts';
import type { scimUserView } from '../../services/provisioning/scim/list/records.ts';
import type { scimRequestView } from '../../services/provisioning/scim/log.ts';
import type { newScimTokenView, scimTokenView } from '../../services/provisioning/scim/token.ts';
import { replacing, shortPath } from '../../services/provisioning/scim/words.ts';
import { noun, org, verb } from '../command.ts';
import { type Hiding, performSecret } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/provisioning/scim/token.ts');

type Token = z.output<typeof scimTokenView>;

const block: Fields<Token> = [
  ['Configured', (view) => (view.suspendedAt === undefined ? view.configured : 'suspended')],
  ['Prefix', (view) => view.prefix],
  ['Created', (view) => view.createdAt],
  ['Last used', (view) => view.lastUsedAt],
  ['Base URL', (view) => view.baseUrl],
];

type New = Hiding<z.output<typeof newScimTokenView>, 'token'>;

const made: Fields<New> = [['Token', (view) => view.token], ...block];

const user: Fields<z.output<typeof scimUserView>> = [
  ['User name', (view) => view.userName],
  ['External ID', (view) => view.externalId],
  ['E-mail', (view) => view.email],
  ['Active', (view) => view.active],
  ['Changed', (view) => view.updatedAt],
];

const group: Fields<z.output<typeof scimGroupView>> = [
  ['Group', (view) => view.displayName],
  ['External ID', (view) => view.externalId],
  ['Members', (view) => view.members],
  ['Changed', (view) => view.updatedAt],
  ['ID', (view) => view.id, 'whole'],
];

const request: Fields<z.output<typeof scimRequestView>> = [
  ['At', (view) => view.at],
  ['Method', (view) => view.method],
  ['Path', (view) => shortPath(view.path)],
  ['Status', (view) => view.status],
  ['Reason', (view) => view.reason, 'broken'],
];

export function addScimCommands(program: Command): void {
  const scim = noun(program, 'scim', {
    summary: 'Provisioning of members with SCIM 2.0',
    example: 'idctl scim users --org acme',
  });
  const token = noun(scim, 'token', {
    summary: 'The token of the SCIM client; an organization has one',
    example: 'idctl scim token show --org acme',
  });
  verb(token, 'rotate', {
    summary: 'Create a new token; the old one stops immediately. --quiet prints only the token',
    required: org,
    rehearsable: true,
    example: 'idctl scim token rotate --org acme',
    run: rotate,
  });
  verb(token, 'show', {
    summary: 'Show whether there is a token, and when it was last used',
    required: org,
    example: 'idctl scim token show --org acme',
    run: async (call) => call.perform((await operations()).showScimToken, block),
  });
  verb(token, 'revoke', {
    summary: 'Revoke the token of the SCIM client; members stay as they are',
    required: org,
    destroys: true,
    example: 'idctl scim token revoke --org acme --yes',
    run: async (call) =>
      call.destroy((await operations()).revokeScimToken, {
        fields: block,
      }),
  });
  verb(scim, 'users', {
    summary: 'List the users SCIM can see, including former members',
    required: org,
    example: 'idctl scim users --org acme',
    run: async (call) => {
      const { listScimUsers } = await import('../../services/provisioning/scim/list/records.ts');
      await call.list(listScimUsers, user, 'There are no users.');
    },
  });
  verb(scim, 'groups', {
    summary: 'List the groups that the SCIM client created',
    required: org,
    options: { '--members <group>': 'list the users in this group instead, by name or id' },
    example: 'idctl scim groups --org acme',
    run: async (call) => {
      const groups = await import('../../services/provisioning/scim/groups/admin.ts');
      if (call.input['members'] === undefined)
        await call.list(groups.listScimGroups, group, 'There are no groups.');
      else await call.list(groups.listScimGroupMembers, user, 'The group is empty.');
    },
  });
  verb(scim, 'log', {
    summary: "List the SCIM client's last requests, newest first",
    required: org,
    example: 'idctl scim log --org acme',
    run: async (call) => {
      const { listScimRequests } = await import('../../services/provisioning/scim/log.ts');
      await call.list(listScimRequests, request, 'The SCIM client has not sent a request yet.');
    },
  });
}

async function rotate(call: Call): Promise<void> {
  const { rotateScimToken, showScimToken } = await operations();
  const { configured, prefix } = await call.operate(showScimToken);
  if (configured && !call.flags.dryRun) {
    const { ask, effect } = replacing(prefix);
    await call.confirm(`${ask} ${effect}`);
  }
  await performSecret(call, rotateScimToken, { fields: made, secret: 'token' });
}
