import { z } from 'zod';
import { Client } from '../../../../database/models/client.ts';
import { Refusal } from '../../../../errors.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { slug } from '../../../foundation/fields.ts';
import { caps } from '../../../foundation/limits/caps.ts';
import { clientIdOf, settingsOfClient } from '../../../tenancy/clients/client.ts';
import {
  changedSettings,
  clientSettings,
  faultOfSettings,
  spareSettings,
} from '../../../tenancy/clients/fields.ts';
import { removeClient } from '../../../tenancy/clients/operations.ts';
import { releaseOrigins } from '../../../tenancy/clients/origins.ts';
import { holdClient, insertClient, updateClient } from '../../../tenancy/clients/write.ts';
import { type Draft, differences, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { type Apply, by, listOf, type Read } from '../section.ts';
import { type ProjectsState, type ProjectsSteps, projectsAfter } from './projects.ts';

const client = z.strictObject({ ...clientSettings, project: slug.nullable().default(null) });
const input = listOf(client, (entry) => entry.name, 'The clients, by name.').optional();

type WantedClient = z.output<typeof client>;
type StoredClient = ReturnType<typeof settingsOfClient> & { id: string };

interface ClientsState {
  clients: StoredClient[];
}

interface ClientsSteps {
  clients: {
    add: WantedClient[];
    change: { id: string; to: WantedClient }[];
    remove: StoredClient[];
  };
}

const read: Read<StoredClient[]> = async (_ctx, { id: organizationId }) => {
  const where = { organizationId };
  const clients = await Client.findAll({ where, include: ['origins', 'project'], order: ['name'] });
  return clients.map((client) => ({ id: client.id, ...settingsOfClient(client) }));
};

type ClientsWanted = Wanted<
  ProjectsState & ClientsState,
  { projects?: { slug: string }[] | undefined; clients?: z.output<typeof input> }
>;

function plan(draft: Draft<ProjectsSteps>, wanted: ClientsWanted): ClientsSteps['clients'] {
  const { state, document, prune } = wanted;
  const steps: ClientsSteps['clients'] = { add: [], change: [], remove: [] };
  if (document.clients !== undefined) {
    const there = new Map(state.clients.map((client) => [client.name, client]));
    const projects = projectsAfter(draft, wanted);
    for (const [at, given] of document.clients.entries()) {
      const client = effective(draft, wanted, given);
      const fault = client && faultOf(projects, client);
      if (fault) draft.faults.push({ path: `clients.${at}.${fault.path}`, message: fault.message });
      else if (client !== null) planClient(draft, steps, there.get(given.name), client);
    }
    const listed = new Set(document.clients.map(({ name }) => name));
    const surplus = state.clients.filter(({ name }) => !listed.has(name));
    steps.remove = dropSurplus(draft, 'clients', surplus, { prune, keyOf: ({ name }) => name });
  }
  requireProjects(draft, steps, state);
  return steps;
}

/**
 * The client without its blocked origins; null if that leaves neither a redirect URI nor an origin.
 */
function effective(
  draft: Draft,
  { outside }: ClientsWanted,
  { role, ...given }: WantedClient,
): WantedClient | null {
  const origins = given.forwardAuthOrigins.filter((origin) => {
    const why = outside.origins.get(origin);
    if (why !== undefined) draft.blocked.push({ section: 'clients', key: given.name, ...why });
    return why === undefined;
  });
  const isBlocked = origins.length < given.forwardAuthOrigins.length;
  if (isBlocked && origins.length + given.redirectUris.length === 0) return null;
  return {
    ...given,
    // A client that is only for forward auth has no secret, and does not count as public.
    public: given.public && given.redirectUris.length > 0,
    role: given.project === null ? role : (role ?? 'viewer'),
    // The order of these lists has no meaning, so they are stored sorted.
    redirectUris: given.redirectUris.toSorted(),
    postLogoutRedirectUris: given.postLogoutRedirectUris.toSorted(),
    forwardAuthOrigins: origins.toSorted(),
  };
}

function faultOf(known: ReadonlySet<string>, client: WantedClient) {
  const { project } = client;
  if (project !== null && !known.has(project))
    return { path: 'project', message: `there is no project ${project}` };
  return faultOfSettings(client);
}

function planClient(
  draft: Draft,
  steps: ClientsSteps['clients'],
  stored: StoredClient | undefined,
  client: WantedClient,
): void {
  const { name: key, ...settings } = client;
  if (stored === undefined) {
    const fields = differences({}, spareSettings(settings));
    draft.changes.push({ section: 'clients', action: 'add', key, fields });
    steps.add.push(client);
    return;
  }
  const before = {
    ...stored,
    redirectUris: stored.redirectUris.toSorted(),
    postLogoutRedirectUris: stored.postLogoutRedirectUris.toSorted(),
  };
  const fields = differences(before, settings);
  if (fields.length === 0) return;
  draft.changes.push({ section: 'clients', action: 'change', key, fields });
  steps.change.push({ id: stored.id, to: client });
}

/** Refuses to remove a project that a client still requires, as `deleteProject` does. */
function requireProjects(
  draft: Draft<ProjectsSteps>,
  { change, remove }: ClientsSteps['clients'],
  { clients }: ClientsState,
): void {
  const changed = new Set([...change, ...remove].map(({ id }) => id));
  for (const { slug } of draft.steps.projects.remove) {
    const client = clients.find(({ id, project }) => project === slug && !changed.has(id));
    if (client !== undefined)
      throw new Refusal('conflict', `Only members of ${slug} can use the client ${client.name}.`, {
        hint: 'Choose another project for the client, or remove the client too.',
      });
  }
}

const apply: Apply<ClientsSteps> = async (ctx, organization, { clients }) => {
  const { add, change, remove } = clients;
  const org = organization.id;
  if (add.length + change.length > 0) await requireAuthority(ctx, 'clients.change', org);
  for (const client of remove) await removeClient(ctx, { org, client: clientIdOf(client) });
  const changing = [];
  for (const { id, to } of change) {
    const client = await holdClient(organization, clientIdOf({ id }));
    changing.push({ client, to });
  }
  // This comes before any client gets an origin: an origin may move from one client to another.
  for (const { client, to } of changing) await releaseOrigins(client, to.forwardAuthOrigins);
  for (const { client, to } of changing) await updateClient(ctx, organization, client, to);
  for (const client of add) await insertClient(ctx, organization, client);
};

function view({ clients }: ClientsState) {
  return clients
    .map(({ id: _, ...settings }) => ({ name: settings.name, ...spareSettings(settings) }))
    .toSorted(by(({ name }) => name));
}

/** The section with the clients. It is planned after the projects. */
export const clients = {
  input,
  exported: z.array(z.object({ ...changedSettings, name: z.string() })),
  read,
  plan,
  apply,
  view,
  cap: {
    max: caps.clients.max,
    count: ({ clients }: ClientsState) => clients.length,
    removesFirst: true,
  },
};
