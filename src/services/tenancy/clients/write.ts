import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import { Client } from '../../../database/models/client.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { ClientSignOut } from '../../../database/models/provider-record.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { holdProject } from '../../foundation/authority/require.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import {
  hasSecret,
  recordChange,
  recordClientEvent,
  rowIdOf,
  settingsOfClient,
  viewClient,
} from './client.ts';
import { type ClientSettings, faultOfSettings } from './fields.ts';
import { holdHosts, writeOrigins } from './origins.ts';

// Writes clients and their events. Call these functions inside a transaction.

/** Writes a client. Returns its view, and its secret if it has one. */
export async function insertClient(
  ctx: Context,
  organization: Organization,
  given: ClientSettings,
) {
  const { id: organizationId } = organization;
  await holdHosts(ctx, given.forwardAuthOrigins);
  await requireCapRoom(organization, 'clients');
  const secret = hasSecret(given) ? newSecret('cos_secret_') : null;
  const row = {
    id: orderedId(),
    organizationId,
    secretHash: secret?.hash ?? null,
    createdAt: ctx.now,
    ...(await columnsOf(organization, given)),
  };
  const made = await refusingDuplicate(Client.create(row), nameTaken(organization, given.name));
  await writeOrigins(ctx, made, given.forwardAuthOrigins);
  await recordClientEvent(ctx, 'client.created', made);
  return { ...viewClient(ctx, await reload(made.id)), clientSecret: secret?.value ?? null };
}

/** Gives a locked client these settings; returns its view. */
export async function updateClient(
  ctx: Context,
  organization: Organization,
  client: Client,
  given: ClientSettings,
) {
  const before = settingsOfClient(client);
  const columns = await columnsOf(organization, given);
  // A client that now needs a secret gets one that is never shown. A rotation shows a new one.
  const needsSecret = hasSecret(given);
  const secretHash = needsSecret ? (client.secretHash ?? newSecret('cos_secret_').hash) : null;
  const suspendedAt = needsSecret ? client.suspendedAt : null;
  await refusingDuplicate(
    client.update({ ...columns, secretHash, suspendedAt }),
    nameTaken(organization, given.name),
  );
  await writeOrigins(ctx, client, given.forwardAuthOrigins);
  // An address that is set later does not get messages about sessions that ended earlier.
  if (given.backchannelLogoutUri === null)
    await ClientSignOut.destroy({ where: { clientId: client.id } });
  const changed = await reload(client.id);
  const after = Object.entries(settingsOfClient(changed));
  const was = new Map(Object.entries(before));
  const fields = after.filter(([field, is]) => !isDeepStrictEqual(is, was.get(field)));
  if (fields.length > 0)
    await recordChange(
      ctx,
      changed,
      fields.map(([field]) => field),
    );
  return viewClient(ctx, changed);
}

function nameTaken({ slug }: Organization, name: string) {
  return {
    message: `The client ${JSON.stringify(name)} already exists in ${slug}.`,
    hint: 'Choose another name.',
  };
}

/** The columns of the settings, checked as a whole. */
async function columnsOf(organization: Organization, given: ClientSettings) {
  const fault = faultOfSettings(given);
  if (fault !== null) throw refuseField(fault.path, fault.message);
  const { name, homeUrl, redirectUris, postLogoutRedirectUris, backchannelLogoutUri } = given;
  const { pkce, idTokenAlg } = given;
  const project = given.project === null ? null : await holdProject(organization, given.project);
  return {
    name,
    homeUrl,
    redirectUris,
    postLogoutRedirectUris,
    backchannelLogoutUri,
    pkce,
    idTokenAlg,
    projectId: project?.id ?? null,
    role: project === null ? null : (given.role ?? 'viewer'),
  };
}

/** The organization's client of this client id or name; refuses with `not_found`. */
export async function requireClientOf(organization: Organization, which: string): Promise<Client> {
  const found = await Client.findOne({ where: whereIs(organization, which) });
  return found === null ? refuseMissing(organization, which) : reload(found.id);
}

/** Like `requireClientOf`, and locks the client. */
export async function holdClient(organization: Organization, which: string): Promise<Client> {
  const found = await hold.client(whereIs(organization, which), 'whole');
  return found === null ? refuseMissing(organization, which) : reload(found.id);
}

function whereIs({ id: organizationId }: Organization, which: string) {
  const id = rowIdOf(which);
  return { ...(id === null ? { name: which } : { id }), organizationId };
}

function refuseMissing({ slug }: Organization, which: string): never {
  throw new Refusal('not_found', `${slug} has no client ${JSON.stringify(which)}.`, {
    hint: { to: 'list them', operation: 'client.list', with: { org: slug } },
  });
}

function reload(id: string): Promise<Client> {
  return Client.findByPk(id, { include: ['origins', 'project'], rejectOnEmpty: true });
}
