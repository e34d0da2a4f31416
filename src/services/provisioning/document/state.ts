import { connectionKinds, isConnectionKind } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { Client } from '../../../database/models/client.ts';
import { Domain } from '../../../database/models/domain.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { OrgRole, Origin, Role } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { inSlices } from '../../../host/queue.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { settingsOfClient } from '../../tenancy/clients/client.ts';
import { directorySettingsOf, openBindPassword } from '../../tenancy/connections/ldap.ts';
import { openClientSecret, ssoSettingsOf } from '../../tenancy/connections/sso.ts';
import { choicesIn } from '../../tenancy/signin-settings/operations.ts';
import { fingerprintOf } from './secrets.ts';
import {
  readMappingRows,
  readMemberRows,
  readProjectMemberRows,
  readProjects,
} from './state.sql.ts';

/** The organization's current state, as far as a document can describe it. */
export interface State {
  organization: Pick<Organization, 'slug' | 'name'>;
  domains: Pick<Domain, 'name' | 'state'>[];
  sso: (ReturnType<typeof ssoSettingsOf> & Stored) | null;
  ldap: (ReturnType<typeof directorySettingsOf> & { enabled: boolean } & Stored) | null;
  signin: ReturnType<typeof choicesIn>;
  webhooks: StoredWebhook[];
  clients: StoredClient[];
  projects: StoredProject[];
  mappings: StoredMapping[];
  members: Member[];
  projectMembers: ProjectMember[];
}

interface Stored {
  id: string;
  /** The fingerprint of the secret. */
  secret: string;
}

export interface StoredWebhook {
  id: string;
  url: string;
  events: string[];
  enabled: boolean;
}

export type StoredClient = ReturnType<typeof settingsOfClient> & { id: string };

export type StoredProject = Pick<Project, 'id' | 'slug' | 'name'>;

export type StoredMapping = { id: string; group: string } & (
  | { project: string; role: ProjectRole; orgRole?: undefined }
  | { orgRole: OrgRole; project?: undefined; role?: undefined }
);

/** A member of the organization. */
export interface Member {
  accountId: string;
  /** The account's address. Null if it has none, or if the organization sees another address. */
  email: string | null;
  role: Role;
  /** How the membership began. */
  kind: Origin['kind'];
  /** For a role from a mapping: its source, connection, group and mapping. */
  given: (Pick<ProjectMember, 'source' | 'by' | 'group'> & { mappingId: string }) | null;
}

/** A member of a project. */
export interface ProjectMember {
  accountId: string;
  email: string | null;
  project: string;
  role: ProjectRole;
  synced: boolean;
  /** For a synced membership: the source, connection, group and mapping that gave it. */
  source: string | null;
  by: string | null;
  group: string | null;
  mappingId: string | null;
}

/** Reads the organization's current state. */
export async function readOrganizationState(
  ctx: Context,
  organization: Organization,
): Promise<State> {
  const organizationId = organization.id;
  const where = { organizationId };
  const sso = await SsoConnection.findOne({ where });
  const ldap = await LdapConnection.findOne({ where });
  const webhooks = await Webhook.findAll({ where, order: ['id'] });
  const clients = await Client.findAll({ where, include: ['origins', 'project'], order: ['name'] });
  const settings = await SignInSettings.findByPk(organizationId);
  const projects = await readProjects(organizationId);
  const people = await readPeople(organizationId, projects);
  return {
    organization: { slug: organization.slug, name: organization.name },
    domains: (await Domain.findAll({ where, order: ['name'] })).map(({ name, state }) => ({
      name,
      state,
    })),
    sso: sso && {
      ...ssoSettingsOf(sso),
      id: sso.id,
      secret: fingerprintOf(ctx, connectionKinds.sso.name, openClientSecret(ctx, sso)),
    },
    ldap: ldap && {
      ...directorySettingsOf(ldap),
      enabled: ldap.enabled,
      id: ldap.id,
      secret: fingerprintOf(ctx, connectionKinds.ldap.name, openBindPassword(ctx, ldap)),
    },
    signin: settings === null ? {} : choicesIn(settings),
    webhooks: webhooks.map(({ id, url, events, enabled }) => {
      return { id, url, events: events ?? ['*'], enabled };
    }),
    clients: clients.map((client) => ({ id: client.id, ...settingsOfClient(client) })),
    projects,
    mappings: await readMappings(organizationId),
    ...people,
  };
}

async function readMappings(organizationId: string): Promise<StoredMapping[]> {
  const rows = await readMappingRows(organizationId);
  return rows.flatMap(({ id, group, project, role, orgRole }): StoredMapping[] => {
    if (orgRole !== null) return [{ id, group, orgRole }];
    return project === null || role === null ? [] : [{ id, group, project, role }];
  });
}

/** Reads the members of some projects at a time, and many of one project in parts. */
async function readProjectMembers(projects: StoredProject[]): Promise<ProjectRow[]> {
  const slugs = new Map(projects.map(({ id, slug }) => [id, slug]));
  const rows: ProjectRow[] = [];
  await inSlices(
    projects.map(({ id }) => id).toSorted(),
    async (ids) => {
      const some = await readProjectMemberRows(ids);
      for (const { projectId, ...row } of some)
        rows.push({ ...row, project: slugs.get(projectId) ?? projectId });
    },
    100,
  );
  return rows;
}

type ProjectRow = Omit<ProjectMember, 'email'>;

async function readPeople(
  organizationId: string,
  projects: StoredProject[],
): Promise<Pick<State, 'members' | 'projectMembers'>> {
  const shown = await shownTo(organizationId, 'all');
  const members = await readMemberRows(organizationId);
  const inProjects = await readProjectMembers(projects);
  // On a foreign domain, the SCIM client chooses the shown address: it identifies no account.
  const emails = new Map(
    members.map(({ accountId, email, name }) => {
      const isOwn = shown({ id: accountId, email, name }).email === email;
      return [accountId, isOwn ? email : null] as const;
    }),
  );
  const emailOf = (accountId: string) => emails.get(accountId) ?? null;
  return {
    members: members.map(({ accountId, role, kind, synced, mappingId, ...rest }) => {
      const { source, by, group } = rest;
      const given = synced && mappingId !== null ? { source, by, group, mappingId } : null;
      return { accountId, email: emailOf(accountId), role, kind, given };
    }),
    projectMembers: inProjects.map((row) => {
      return { ...row, email: emailOf(row.accountId) };
    }),
  };
}

/** Whether a connection, SCIM or a mapping made the membership. Documents omit such members. */
export function isAutomatic({ kind }: Pick<Member, 'kind'>): boolean {
  return isConnectionKind(kind) || ['scim', 'mapping'].includes(kind);
}
