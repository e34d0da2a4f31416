import type { z } from 'zod';
import { caps, documentCaps } from '../../foundation/limits/caps.ts';
import { spare } from '../../foundation/settings.ts';
import { spareSettings } from '../../tenancy/clients/fields.ts';
import { countsOf, isCapped } from './caps.ts';
import {
  connectionInputs,
  documentVersion,
  type exportedDocument,
  nameOfMapping,
  sections,
} from './schema.ts';
import { isAutomatic, type State } from './state.ts';

/** The exported document without the URL of its schema. */
type Exported = Omit<z.output<typeof exportedDocument>, '$schema'>;

/**
 * The document that describes the organization's current state. Its order is stable. It contains no
 * ids, times, secrets or derived values.
 */
export function documentOf(state: State): Exported {
  const { organization, domains, sso, ldap, signin } = state;
  const keeping = { unchanged: true };
  return {
    idctl: documentVersion,
    organization: { slug: organization.slug, name: organization.name },
    domains: domains.map(({ name }) => ({ domain: name })).toSorted(by(({ domain }) => domain)),
    ...(sso === null
      ? { sso }
      : sso.emailDomain === undefined
        ? {}
        : { sso: spare(connectionInputs.sso.shape, { ...sso, clientSecret: keeping }) }),
    ldap:
      ldap === null ? null : spare(connectionInputs.ldap.shape, { ...ldap, bindPassword: keeping }),
    mappings: state.mappings.map(({ id: _, ...mapping }) => mapping).toSorted(by(nameOfMapping)),
    projects: projectsIn(state),
    members: named(state.members.filter((member) => !isAutomatic(member))),
    signin: { ...signin },
    webhooks: webhooksIn(state),
    clients: state.clients
      .map(({ id: _, ...settings }) => ({ name: settings.name, ...spareSettings(settings) }))
      .toSorted(by(({ name }) => name)),
    ...sectionsAbove(state),
  };
}

/** Names the sections above a cap: those of the organization, and those of a document. */
function sectionsAbove(state: State): Pick<Exported, 'aboveCaps'> {
  const counts = countsOf(state);
  const members = state.members.filter((one) => !isAutomatic(one) && one.email !== null).length;
  const aboveCaps = sections.flatMap((section) => {
    const [entries, most] =
      section === 'members'
        ? [members, documentCaps.members]
        : isCapped(section)
          ? [counts[section], caps[section].most]
          : [0, 0];
    return entries > most ? [{ section, entries, most }] : [];
  });
  return aboveCaps.length === 0 ? {} : { aboveCaps };
}

function projectsIn({ projects, projectMembers }: State) {
  const manual = projectMembers.filter(({ synced }) => !synced);
  const members = Map.groupBy(manual, ({ project }) => project);
  return projects
    .map(({ slug, name }) => ({
      slug,
      name,
      members: named(members.get(slug) ?? []),
    }))
    .toSorted(by(({ slug }) => slug));
}

/** The members whose address the organization knows. */
function named<Role>(members: { email: string | null; role: Role }[]) {
  return members
    .flatMap(({ email, role }) => (email === null ? [] : [{ email, role }]))
    .toSorted(by(({ email }) => email));
}

/** The first webhook of each URL, because a document identifies webhooks by URL. */
function webhooksIn({ webhooks }: State) {
  const first = new Map(webhooks.toReversed().map((webhook) => [webhook.url, webhook]));
  return [...first.values()]
    .map(({ url, events, enabled }) => ({ url, events: events.toSorted(), enabled }))
    .toSorted(by(({ url }) => url));
}

/** Compares by a text, in the same order in every locale. */
function by<Entry>(textOf: (entry: Entry) => string) {
  return (one: Entry, other: Entry): number => {
    const [a, b] = [textOf(one), textOf(other)];
    return a < b ? -1 : a > b ? 1 : 0;
  };
}
