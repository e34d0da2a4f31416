import type { Role } from '../../database/models/membership.ts';
import type { ProjectRole } from '../../database/models/project-membership.ts';

// Who may do what: the one table of it. Operations prove themselves by it, routes name their row of it, and the
// operator may do everything in it. What has no row is the operator's alone (`requireOperator`).

/** What an operation asks of whoever wants it. */
export interface Rule {
  /** The least that one must be: a signed-in person, for what is their own, or of this role in the organization. */
  least: 'user' | Role;
  /** The least role in the project that will do instead. */
  orInProject?: ProjectRole;
  /** A token will not do: never, or only where `tokens.manageCredentials` says that it will. */
  session?: 'always' | 'usually';
}

/** Every operation that somebody other than the operator may do. */
export const authority = {
  'me.see': { least: 'user' },
  'me.change': { least: 'user' },
  /** Password, second factor, tokens and apps: with them a stolen token would outlive its own end. */
  'me.credentials': { least: 'user', session: 'usually' },
  'sessions.see': { least: 'user' },
  'sessions.end': { least: 'user' },
  /** What it opens may be an owner's role. */
  'invitations.accept': { least: 'user', session: 'always' },
  'organizations.list': { least: 'user' },
  /** Only while `orgs.creation` is `anyone`. */
  'organizations.create': { least: 'user' },

  'organization.see': { least: 'member' },
  'organization.rename': { least: 'owner' },
  'organization.delete': { least: 'owner', session: 'always' },
  'members.see': { least: 'member' },
  'members.change': { least: 'admin' },
  /** Oneself; all but the last owner. */
  'members.leave': { least: 'member' },
  'members.grantOwner': { least: 'owner', session: 'always' },
  'members.takeOwner': { least: 'owner' },
  'invitations.see': { least: 'admin' },
  'invitations.change': { least: 'admin' },
  /** Naming the organization for an app of one's own, which then asks about the tokens of its members. */
  'apps.introspect': { least: 'admin', session: 'usually' },
  'events.see': { least: 'admin' },
  'webhooks.see': { least: 'admin' },
  'webhooks.change': { least: 'admin' },

  /** Those that one belongs to. */
  'projects.see': { least: 'member' },
  'projects.seeAll': { least: 'admin' },
  'projects.change': { least: 'admin' },
  'projectMembers.see': { least: 'admin', orInProject: 'viewer' },
  'projectMembers.change': { least: 'admin', orInProject: 'admin' },
  /** Making a synced membership manual, or taking it away. */
  'projectMembers.changeSynced': { least: 'admin' },

  'domains.see': { least: 'admin' },
  'domains.change': { least: 'admin' },
  'sso.see': { least: 'admin' },
  'sso.change': { least: 'admin' },
  /** They free accounts for what another provider or directory says of them. */
  'sso.relink': { least: 'owner', session: 'always' },
  'ldap.relink': { least: 'owner', session: 'always' },
  'ldap.see': { least: 'admin' },
  'ldap.change': { least: 'admin' },
  'signin.see': { least: 'admin' },
  'signin.change': { least: 'admin' },
  'mappings.see': { least: 'admin' },
  'mappings.change': { least: 'admin' },
  'scim.see': { least: 'admin' },
  'scim.change': { least: 'admin' },
} as const satisfies Record<string, Rule>;

/** A row of the table. */
export type Operation = keyof typeof authority;

/** The rows that ask for one of these. */
type Asking<Least extends Rule['least']> = {
  [Name in Operation]: (typeof authority)[Name]['least'] extends Least ? Name : never;
}[Operation];

/** The rows about what is a signed-in person's own. */
export type OwnOperation = Asking<'user'>;

/** The rows about an organization. */
export type OrganizationOperation = Exclude<Asking<Role>, ProjectOperation>;

/** The rows that a role in a project opens too. */
export type ProjectOperation = {
  [Name in Operation]: (typeof authority)[Name] extends { orInProject: ProjectRole } ? Name : never;
}[Operation];

/** The rule of an operation. */
export function ruleOf(operation: Operation): Rule {
  return authority[operation];
}
