import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { findUsable } from '../../tenancy/connections/usable.ts';
import { isInvited } from '../../tenancy/invitations/invitation.ts';
import { findGoverningDomain, type Governing } from '../../tenancy/signin-settings/governing.ts';
import { chooseDirectory } from '../../tenancy/signin-settings/methods.ts';
import { type Attempts, readAttempts } from './attempts.ts';

/** The person in question, and what the caller may learn about them. */
export interface Question {
  organization: Organization;
  /** The canonical address. */
  email: string;
  /** The account of the address, or null; undefined if the caller may not know. */
  account: Account | null | undefined;
  /** Whether the organization has removed this person. */
  removed: boolean;
  /** The groups that SCIM keeps for a person that it shows as deactivated; null for any other. */
  keptGroups: string[] | null;
  /** Whether the caller may learn about connections of other organizations. */
  everywhere: boolean;
}

/** The settings, connections and counts that decide how an address can sign in. */
export interface Scene extends Question {
  domain: string;
  governing: Governing;
  sso: SsoConnection | null;
  ldap: LdapConnection | null;
  attempts: Attempts[];
  sendsMail: boolean;
  /** Whether a person without an account has an invitation to the organization. */
  invited: boolean;
}

/** Reads the settings, connections and counts that decide how the address can sign in. */
export async function setScene(ctx: Context, asked: Question): Promise<Scene> {
  const { email, organization, account } = asked;
  const domain = domainOf(email);
  const governing = await findGoverningDomain(ctx, domain);
  // If no organization governs the address, the person must name one.
  const named = governing.organizationId === null ? { org: organization.id } : {};
  const ldap = await chooseDirectory(ctx, { username: email, ...named });
  const sso = await findUsable(ctx, domain);
  const sendsMail = isMailConfigured(ctx);
  // Only a caller who may know that there is no account learns about the invitation.
  const invited = account === null && (await isInvited(ctx, organization.id, email));
  const scene = { ...asked, domain, governing, sso, ldap, sendsMail, invited };
  if (account === undefined) return { ...scene, attempts: [] };
  const key = ldap === null || account === null ? null : await findLdapKey(account, ldap);
  const directory = ldap === null ? null : { organizationId: ldap.organizationId, key };
  return { ...scene, attempts: await readAttempts(ctx, { email, account }, directory) };
}

/** The account's identity that the directory should return; null if it has none. */
export async function findLdapKey(
  account: Account,
  ldap: LdapConnection,
): Promise<Identity | null> {
  const server = new URL(ldap.uri).hostname;
  const keys = await findKeys(account, connectionKinds.ldap.name, ldap);
  return keys.find((key) => key.server === server) ?? null;
}

/**
 * The account's identities of this kind in the organization, the newest first. Those of this
 * connection come before all others.
 */
export async function findKeys(
  { id: accountId }: Account,
  kind: ConnectionKindName,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<Identity[]> {
  const where = { kind, organizationId, accountId };
  const keys = await Identity.findAll({ where, order: [['id', 'DESC']] });
  const isOwn = ({ connectionId }: Identity) => connectionId === id;
  return [...keys.filter(isOwn), ...keys.filter((key) => !isOwn(key))];
}
