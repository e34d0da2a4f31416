import type { Part, Section, SectionName } from './section.ts';
import { clients } from './sections/clients.ts';
import { domains } from './sections/domains.ts';
import { ldap } from './sections/ldap.ts';
import { mappings } from './sections/mappings.ts';
import { members } from './sections/members.ts';
import { organization } from './sections/organization.ts';
import { projectMembers } from './sections/project-members.ts';
import { projects } from './sections/projects.ts';
import { signin } from './sections/signin.ts';
import { sso } from './sections/sso.ts';
import { webhooks } from './sections/webhooks.ts';

/** The sections of a document, in the order in which they are read and planned. */
export const sections = {
  organization,
  domains,
  sso,
  ldap,
  signin,
  webhooks,
  members,
  projects,
  projectMembers,
  mappings,
  clients,
} satisfies Record<SectionName, Section> & { projectMembers: Part };

/**
 * The steps of an apply, in their order. Additions come before the steps that use them. Lower roles
 * come last, and then the actor's own removal.
 */
export const applySteps = [
  organization.apply,
  domains.add,
  members.add,
  projects.add,
  mappings.apply,
  projectMembers.apply,
  clients.apply,
  // This comes after the clients, because a client must not require a removed project.
  projects.remove,
  webhooks.apply,
  sso.apply,
  ldap.apply,
  // This comes after the connections: under the new settings, an owner may need a new connection.
  signin.apply,
  domains.remove,
  // This comes last, because every earlier step may need the actor's own role.
  members.remove,
];

type Sections = typeof sections;

/** The organization's current state, as far as a document can describe it. */
export type State = { [Name in keyof Sections]: Awaited<ReturnType<Sections[Name]['read']>> };

/** The steps that carry out the changes of a plan, with the ids of stored rows. */
export type Steps = { [Name in keyof Sections]: ReturnType<Sections[Name]['plan']> };
