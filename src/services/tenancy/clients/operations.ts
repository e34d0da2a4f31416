import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { Client } from '../../../database/models/client.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { isRehearsed, transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { parse } from '../../../input.ts';
import type { Todo } from '../../../next.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { requireReachable } from '../webhooks/operations.ts';
import {
  clientView,
  newClientView,
  recordClientEvent,
  settingsOfClient,
  viewClient,
} from './client.ts';
import { changedEntries, changedSettings, clientSettings, listsWith } from './fields.ts';
import { holdHosts } from './origins.ts';
import { holdClient, insertClient, requireClientOf, updateClient } from './write.ts';

// Clients: the applications that an organization's members sign in to through idctl.

const wholeSettings = z.strictObject(clientSettings);

const refInput = z.strictObject({
  org: ref,
  client: z.string().min(1).max(200).describe('The client, by client id or name.'),
});

/** Lists the organization's clients, without their secrets. */
export const listClients = operation({
  authority: 'clients.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(clientView),
  run: (ctx, input, { organization }) => {
    const where = { organizationId: organization.id };
    return readRows(Client, { where, include: ['origins', 'project'] }, input, (row) =>
      viewClient(ctx, row),
    );
  },
});

/** Shows one client, without its secret. */
export const showClient = operation({
  authority: 'clients.see',
  input: refInput,
  output: clientView,
  run: async (ctx, input, { organization }) =>
    viewClient(ctx, await requireClientOf(organization, input.client)),
});

/** Creates a client, and returns its secret once, if it has one (`hasSecret`). */
export const createClient = operation({
  authority: 'clients.change',
  input: z.strictObject({ org: ref, ...clientSettings }),
  output: newClientView,
  run: async (ctx, input, { organization }) => {
    await requireLogoutUri(ctx, input.backchannelLogoutUri);
    return transaction(() => insertClient(ctx, organization, input));
  },
});

/** Changes the given settings of a client. A list is replaced, or entries are added and removed. */
export const changeClient = operation({
  authority: 'clients.change',
  input: refInput.extend({ ...changedSettings, ...changedEntries }),
  output: clientView,
  run: async (ctx, { org: _, client: which, ...given }, { organization }) => {
    await requireLogoutUri(ctx, given.backchannelLogoutUri ?? null);
    return transaction(async () => {
      await holdHosts(ctx, [
        ...(given.forwardAuthOrigins ?? []),
        ...(given.addForwardAuthOrigins ?? []),
      ]);
      const client = await holdClient(organization, which);
      const before = settingsOfClient(client);
      // A role without a project would be refused.
      const role = given.project === null ? null : before.role;
      const replaced = Object.entries(given).filter(([name]) => name in clientSettings);
      const lists = listsWith(before, given);
      const changed = { ...Object.fromEntries(replaced), ...lists };
      const settings = parse(wholeSettings, { ...before, role, ...changed });
      return updateClient(ctx, organization, client, settings);
    });
  },
});

async function requireLogoutUri(ctx: Context, uri: string | null): Promise<void> {
  // A dry run is a transaction, which must not use the network.
  if (uri !== null && !isRehearsed()) await requireReachable(ctx, uri, 'backchannelLogoutUri');
}

function requireSecretOf(client: Client, { slug: org }: Organization, named: string): void {
  const given = { client: named, org };
  const rotate: Todo = { say: 'then', operation: 'client.rotate', with: given };
  if (client.redirectUris.length === 0)
    throw new Refusal('conflict', `${client.name} is only for forward auth: it has no secret.`, {
      hint: [
        { to: 'let it sign people in itself', operation: 'client.add-redirect', with: given },
        rotate,
      ],
    });
  if (client.secretHash === null)
    throw new Refusal('conflict', `${client.name} is public: it has no secret.`, {
      hint: [{ to: 'give it one', operation: 'client.make-confidential', with: given }, rotate],
    });
}

/** Gives a client a new secret, returned once; the old one is refused from the next request on. */
export const rotateClient = operation({
  authority: 'clients.change',
  input: refInput,
  output: newClientView,
  ends: {
    ask: ({ name }) => `Give ${name} a new secret?`,
    effects: () => ['The old one stops immediately.'],
    done: ({ name }) => `${name} has a new secret.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const client = await holdClient(organization, input.client);
      requireSecretOf(client, organization, input.client);
      const { value, hash } = newSecret('cos_secret_');
      await client.update({ secretHash: hash, suspendedAt: null });
      await recordClientEvent(ctx, 'client.rotated', client);
      return { ...viewClient(ctx, client), clientSecret: value };
    }),
});

/** Removes a client, with everything that was issued to it. */
export const removeClient = operation({
  authority: 'clients.change',
  input: refInput,
  output: clientView,
  ends: {
    ask: ({ name }) => `Remove ${name}?`,
    effects: () => ['People can then no longer sign in to it.'],
    done: ({ name }) => `Removed ${name}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const client = await holdClient(organization, input.client);
      await client.destroy();
      await recordClientEvent(ctx, 'client.removed', client);
      return viewClient(ctx, client);
    }),
});
