import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { select } from '../../../database/select.ts';
import { type Current, groupsHeld, type Mapping, type Plan, planMemberships } from './plan.ts';

/** A connection whose groups feed the mappings. */
export interface GroupSource {
  kind: 'sso' | 'ldap';
  id: string;
  organizationId: string;
  /** Directories remove nothing. */
  autoRemove: boolean;
  /** Whether every sign-in applies the groups, not only the first. */
  everyTime: boolean;
  /** The search base of a directory; null if the groups come from a claim. */
  searchBase: string | null;
}

/** A single sign-on connection as a source of groups. */
export function ssoSource(connection: SsoConnection): GroupSource {
  const { id, organizationId, autoRemove, syncOnLogin: everyTime } = connection;
  return { kind: 'sso', id, organizationId, autoRemove, everyTime, searchBase: null };
}

/** A directory as a source of groups. */
export function ldapSource(connection: LdapConnection): GroupSource {
  const { id, organizationId, searchBase } = connection;
  const everyTime = connection.groupsAttribute !== null;
  return { kind: 'ldap', id, organizationId, autoRemove: false, everyTime, searchBase };
}

/** The organization's connections that provide groups, single sign-on first. */
export async function findSources(organizationId: string): Promise<GroupSource[]> {
  const sso = await SsoConnection.findOne({ where: { organizationId } });
  const ldap = await LdapConnection.findOne({ where: { organizationId } });
  return [...(sso === null ? [] : [ssoSource(sso)]), ...(ldap === null ? [] : [ldapSource(ldap)])];
}

/** Plans the effect of the groups that a connection sent, for the sign-in and the preview. */
export async function readPlan(
  source: GroupSource,
  accountId: string | null,
  said: readonly string[],
): Promise<Plan> {
  const mappings = await readMappings(source.organizationId);
  const held =
    source.searchBase === null
      ? said
      : groupsHeld(
          mappings.map(({ group }) => group),
          said,
          source.searchBase,
        );
  const current = accountId === null ? [] : await readCurrent(source, accountId);
  return planMemberships(held, mappings, current, source);
}

/** The mappings to the organization's own projects (security I7), oldest first; up to 10000. */
function readMappings(organizationId: string): Promise<Mapping[]> {
  return select<Mapping>(
    `SELECT m.id, m.group_name AS "group", m.project_id AS "projectId", m.role FROM group_mappings m
       JOIN projects p ON p.id = m.project_id AND p.organization_id = m.organization_id
      WHERE m.organization_id = $1 ORDER BY m.id`,
    [organizationId],
  );
}

/**
 * The person's memberships in the organization's projects. `synced` marks those that this
 * connection may change. A directory may change those that it gave. Single sign-on may change all
 * other synced ones, including those of a removed connection.
 */
async function readCurrent(source: GroupSource, accountId: string): Promise<Current[]> {
  const { organizationId } = source;
  const directory = await LdapConnection.findOne({ where: { organizationId } });
  const isOwn = ({ by }: Origin) =>
    source.kind === 'ldap' ? by === source.id : by !== directory?.id;
  const rows = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
    order: ['projectId'],
  });
  return rows.map(({ projectId, role, synced, origin }) => {
    const { group, mappingId } = origin;
    const known = group !== undefined && mappingId !== undefined;
    return {
      projectId,
      role,
      synced: synced && isOwn(origin),
      because: known ? { group, mappingId } : null,
    };
  });
}
