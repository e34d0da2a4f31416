import type { Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';

// The one table of rights. Each operation names its row and checks it before it runs. The operator
// has every right. An operation without a row is public, or only for the operator.

/** The requirements of an operation. */
export interface Rule {
  /** The lowest role: `user` (own data of a signed-in person), or one in the organization. */
  least: 'user' | Role;
  /** The lowest project role that is also enough. */
  orInProject?: ProjectRole;
  /**
   * The effect, which decides the scope that a token needs (security P15): any, `write` or `admin`.
   * `letsIn` gives others access or a role above member.
   */
  effect: 'reads' | 'changes' | 'letsIn';
  /** A session is needed: always, or unless `tokens.manageCredentials` is on. */
  session?: 'always' | 'usually';
  /** The session must have passed the account's own second factor, checked by idctl. */
  secondFactor?: true;
}

/** Every right that people other than the operator can have. */
export const authority = {
  'me.see': { least: 'user', effect: 'reads' },
  'me.change': { least: 'user', effect: 'changes' },
  /** Changes password, second factor, tokens and apps: a token thief could gain lasting access. */
  'me.credentials': { least: 'user', session: 'usually', effect: 'changes' },
  /** Changes the address, exports all data, or deletes the account: not for a stolen token. */
  'me.account': { least: 'user', session: 'always', effect: 'changes' },
  /** Creates or regenerates a token with scope admin. */
  'me.adminTokens': { least: 'user', effect: 'letsIn', session: 'always', secondFactor: true },
  'sessions.see': { least: 'user', effect: 'reads' },
  'sessions.end': { least: 'user', effect: 'changes' },
  /** The invitation may grant the owner role. */
  'invitations.accept': { least: 'user', session: 'always', effect: 'changes' },
  'organizations.list': { least: 'user', effect: 'reads' },
  /** Allowed only while `orgs.creation` is `anyone`. */
  'organizations.create': { least: 'user', effect: 'changes' },

  'organization.see': { least: 'member', effect: 'reads' },
  'organization.rename': { least: 'owner', effect: 'changes' },
  'organization.delete': { least: 'owner', session: 'always', effect: 'changes' },
  'members.see': { least: 'member', effect: 'reads' },
  'members.change': { least: 'admin', effect: 'changes' },
  /**
   * Explains how a person could sign in. Does not reveal anything about strangers to the
   * organization.
   */
  'members.explain': { least: 'admin', effect: 'reads' },
  /** Removes the actor's own membership; refused for the last owner. */
  'members.leave': { least: 'member', effect: 'changes' },
  'members.grantAdmin': { least: 'admin', effect: 'letsIn' },
  'members.grantOwner': { least: 'owner', session: 'always', effect: 'letsIn' },
  'members.takeOwner': { least: 'owner', effect: 'changes' },
  /** Removes the second factor of a person who lost it. */
  'members.resetFactor': { least: 'admin', session: 'always', effect: 'letsIn' },
  'setupLinks.see': { least: 'owner', effect: 'reads' },
  /** The holder of a setup link needs no account. */
  'setupLinks.create': { least: 'owner', session: 'always', effect: 'letsIn' },
  'setupLinks.revoke': { least: 'owner', effect: 'changes' },
  'invitations.see': { least: 'admin', effect: 'reads' },
  'invitations.change': { least: 'admin', effect: 'changes' },
  /** Sets the organization whose members' tokens the actor's app may introspect. */
  'apps.introspect': { least: 'admin', session: 'usually', effect: 'changes' },
  'events.see': { least: 'admin', effect: 'reads' },
  'webhooks.see': { least: 'admin', effect: 'reads' },
  'webhooks.change': { least: 'admin', effect: 'changes' },
  'clients.see': { least: 'admin', effect: 'reads' },
  /** A client decides where people are sent, and which people may use an application. */
  'clients.change': { least: 'admin', effect: 'letsIn' },
  /** Connects to the client's addresses, and shows the claims of a member's ID token. */
  'clients.test': { least: 'admin', effect: 'changes' },

  /** The projects that the actor belongs to. */
  'projects.see': { least: 'member', effect: 'reads' },
  'projects.seeAll': { least: 'admin', effect: 'reads' },
  'projects.change': { least: 'admin', effect: 'changes' },
  'projectMembers.see': { least: 'admin', orInProject: 'viewer', effect: 'reads' },
  'projectMembers.change': { least: 'admin', orInProject: 'admin', effect: 'changes' },
  'projectMembers.grantAdmin': { least: 'admin', orInProject: 'admin', effect: 'letsIn' },
  /** Makes a synced membership manual, or removes it. */
  'projectMembers.changeSynced': { least: 'admin', effect: 'changes' },

  'domains.see': { least: 'admin', effect: 'reads' },
  'domains.change': { least: 'admin', effect: 'letsIn' },
  'domains.remove': { least: 'admin', effect: 'letsIn' },
  'sso.see': { least: 'admin', effect: 'reads' },
  'sso.change': { least: 'admin', effect: 'letsIn' },
  /** Switches the connection off, or removes it. */
  'sso.remove': { least: 'admin', effect: 'letsIn' },
  /** Sends requests to the provider on behalf of the organization. */
  'sso.test': { least: 'admin', effect: 'changes' },
  /** A relink unlinks accounts, so that identities of a new provider or directory can be linked. */
  'sso.approve': { least: 'owner', session: 'always', effect: 'letsIn' },
  'sso.relink': { least: 'owner', session: 'always', effect: 'letsIn' },
  'ldap.approve': { least: 'owner', session: 'always', effect: 'letsIn' },
  'ldap.relink': { least: 'owner', session: 'always', effect: 'letsIn' },
  'ldap.see': { least: 'admin', effect: 'reads' },
  'ldap.change': { least: 'admin', effect: 'letsIn' },
  'ldap.remove': { least: 'admin', effect: 'letsIn' },
  /** Queries the directory, and counts refused passwords. */
  'ldap.test': { least: 'admin', effect: 'changes' },
  'signin.see': { least: 'admin', effect: 'reads' },
  'signin.change': { least: 'admin', effect: 'letsIn' },
  'mappings.see': { least: 'admin', effect: 'reads' },
  'mappings.change': { least: 'admin', effect: 'changes' },
  'mappings.grantAdmin': { least: 'admin', effect: 'letsIn' },
  'scim.see': { least: 'admin', effect: 'reads' },
  /** Creates the first SCIM token. Its client decides who is a member, owners included. */
  'scim.create': { least: 'owner', effect: 'letsIn' },
  /** Replaces the token too. */
  'scim.rotate': { least: 'owner', effect: 'letsIn' },
  'scim.revoke': { least: 'admin', effect: 'changes' },

  /** The document of the organization: its settings and manual members, without secrets. */
  'document.see': { least: 'admin', effect: 'reads' },
  /** Each change in the document also needs its own right. */
  'document.apply': { least: 'admin', effect: 'changes' },

  /** The members' tokens with scope admin. */
  'adminTokens.see': { least: 'owner', effect: 'reads' },
} as const satisfies Record<string, Rule>;

/** The name of a row of the table. */
export type Right = keyof typeof authority;

type Asking<Least extends Rule['least']> = {
  [Name in Right]: (typeof authority)[Name]['least'] extends Least ? Name : never;
}[Right];

/** The rows that require the account's own second factor. */
export type SecondFactorRight = {
  [Name in Right]: (typeof authority)[Name] extends { secondFactor: true } ? Name : never;
}[Right];

/** The rows about a signed-in person's own data. */
export type OwnRight = Exclude<Asking<'user'>, SecondFactorRight>;

/** The rows about an organization. */
export type OrganizationRight = Exclude<Asking<Role>, ProjectRight>;

/** The rows for which a role in a project can also be enough. */
export type ProjectRight = {
  [Name in Right]: (typeof authority)[Name] extends { orInProject: ProjectRole } ? Name : never;
}[Right];

/** The rule of a row. */
export function ruleOf(right: Right): Rule {
  return authority[right];
}

/** Whether the row is about a signed-in person's own data. */
export function isAboutOneself(
  right: OwnRight | OrganizationRight | ProjectRight,
): right is OwnRight {
  return ruleOf(right).least === 'user';
}

/** Whether a project role can also grant this right. */
export function isAboutProject(right: OrganizationRight | ProjectRight): right is ProjectRight {
  return ruleOf(right).orInProject !== undefined;
}
