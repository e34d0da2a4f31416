import { Refusal } from '../../../errors.ts';
import { faultOfSettings, spareSettings } from '../../tenancy/clients/fields.ts';
import { differences, dropSurplus, type PlanDraft } from './changes.ts';
import type { WantedClient } from './schema.ts';
import type { PlanInput } from './wanted.ts';

/** Plans the clients. Call it after the projects are planned. */
export function planClients(draft: PlanDraft, wanted: PlanInput): void {
  const { state, document, prune } = wanted;
  if (document.clients !== undefined) {
    const there = new Map(state.clients.map((client) => [client.name, client]));
    const projects = projectsAfter(draft, wanted);
    for (const [at, given] of document.clients.entries()) {
      const client = effective(draft, wanted, given);
      const fault = client && faultOf(projects, client);
      if (fault) draft.faults.push({ path: `clients.${at}.${fault.path}`, message: fault.message });
      else if (client !== null) planClient(draft, there.get(given.name), client);
    }
    const listed = new Set(document.clients.map(({ name }) => name));
    const surplus = state.clients.filter(({ name }) => !listed.has(name));
    draft.steps.removeClients = dropSurplus(draft, 'clients', surplus, {
      prune,
      keyOf: ({ name }) => name,
    });
  }
  requireProjects(draft, wanted);
}

/**
 * The client without its blocked origins; null if that leaves neither a redirect URI nor an origin.
 */
function effective(
  draft: PlanDraft,
  { outside }: PlanInput,
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

/** The slugs of the projects that exist once the plan is applied. */
function projectsAfter(draft: PlanDraft, { state, document }: PlanInput): Set<string> {
  const gone = new Set(draft.steps.removeProjects.map(({ slug }) => slug));
  const left = state.projects.filter(({ slug }) => !gone.has(slug));
  return new Set([...left, ...(document.projects ?? [])].map(({ slug }) => slug));
}

function faultOf(known: ReadonlySet<string>, client: WantedClient) {
  const { project } = client;
  if (project !== null && !known.has(project))
    return { path: 'project', message: `there is no project ${project}` };
  return faultOfSettings(client);
}

function planClient(
  draft: PlanDraft,
  stored: PlanInput['state']['clients'][number] | undefined,
  client: WantedClient,
): void {
  const { name: key, ...settings } = client;
  if (stored === undefined) {
    const fields = differences({}, spareSettings(settings));
    draft.changes.push({ section: 'clients', action: 'add', key, fields });
    draft.steps.addClients.push(client);
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
  draft.steps.changeClients.push({ id: stored.id, to: client });
}

/** Refuses to remove a project that a client still requires, as `deleteProject` does. */
function requireProjects({ steps }: PlanDraft, { state }: PlanInput): void {
  const changed = new Set([...steps.changeClients, ...steps.removeClients].map(({ id }) => id));
  for (const { slug } of steps.removeProjects) {
    const client = state.clients.find(({ id, project }) => project === slug && !changed.has(id));
    if (client !== undefined)
      throw new Refusal('conflict', `The client ${client.name} admits only members of ${slug}.`, {
        hint: 'Choose another project for the client, or remove the client too.',
      });
  }
}
