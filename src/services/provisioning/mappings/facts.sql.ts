import { hold } from '../../../database/hold.ts';
import type { OrgRole, Origin, Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select, selectAmong } from '../../../database/select.ts';
import { readAllRows } from '../../foundation/page.ts';

// The SQL of the facts that decide people's roles. It reads many people in few statements.

/** A mapping to a role in the organization, or in one of its own projects. */
interface MappingRow {
  id: string;
  group: string;
  projectId: string | null;
  role: ProjectRole | null;
  orgRole: OrgRole | null;
}

/** The mappings of the organization, oldest first; `projectId` only for its own projects. */
export function readGivingMappings(organizationId: string): Promise<MappingRow[]> {
  return readAllRows((after, count) =>
    select<MappingRow>(
      `SELECT m.id, m.group_name AS "group", p.id AS "projectId", m.role, m.org_role AS "orgRole"
         FROM group_mappings m
         LEFT JOIN projects p ON p.id = m.project_id AND p.organization_id = m.organization_id
        WHERE m.organization_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3`,
      [organizationId, after, count],
    ),
  );
}

/** A person's role in the organization, or in a project. */
export interface MemberRow {
  accountId: string;
  role: Role;
  synced: boolean;
  origin: Origin;
}

const kinds = { columns: { synced: 'flag', origin: 'json' } } as const;

const memberRows = (list: string, organization: string) =>
  `SELECT account_id AS "accountId", role, synced, origin FROM memberships
    WHERE account_id IN (${list}) AND organization_id = ${organization} ORDER BY account_id`;

/** The members among these accounts, in the order of their ids. */
export function readMemberRows(
  organizationId: string,
  accountIds: readonly string[],
): Promise<MemberRow[]> {
  return selectAmong<MemberRow>(accountIds.toSorted(), memberRows, [organizationId], kinds);
}

/** Like `readMemberRows`, and locks the memberships. */
export function holdMemberRows(
  organizationId: string,
  accountIds: readonly string[],
): Promise<MemberRow[]> {
  return hold.among<MemberRow>([accountIds, memberRows, [organizationId], kinds], {
    kind: 'membership',
    how: 'whole',
    id: ({ accountId }) => `${organizationId} ${accountId}`,
  });
}

/** The last known groups of these people at a connection. */
export function readKnownGroups(
  connectionId: string,
  accountIds: readonly string[],
): Promise<{ accountId: string; groups: string[] }[]> {
  return selectAmong<{ accountId: string; groups: string[] }>(
    accountIds,
    (list, connection) => `SELECT account_id AS "accountId", known_groups AS groups
      FROM identities WHERE account_id IN (${list}) AND connection_id = ${connection}
       AND known_groups IS NOT NULL`,
    [connectionId],
    { columns: { groups: 'json' } },
  );
}

/** A group that SCIM pushed, and a person in it. */
interface PushedGroup {
  accountId: string;
  displayName: string;
  externalId: string | null;
}

/** The groups of these people that SCIM pushed to the organization. */
export function readPushedGroups(
  organizationId: string,
  accountIds: string[],
): Promise<PushedGroup[]> {
  return selectAmong<PushedGroup>(
    accountIds,
    (list, organization) => `SELECT r.account_id AS "accountId", g.display_name AS "displayName",
        g.external_id AS "externalId"
       FROM scim_records r JOIN scim_group_members m ON m.record_id = r.id
       JOIN scim_groups g ON g.id = m.group_id
      WHERE r.account_id IN (${list}) AND r.organization_id = ${organization}`,
    [organizationId],
  );
}

/** The roles of these people in the organization's projects. */
export function readProjectMembers(
  organizationId: string,
  accountIds: string[],
): Promise<(MemberRow & { projectId: string; role: ProjectRole })[]> {
  return selectAmong<MemberRow & { projectId: string; role: ProjectRole }>(
    accountIds,
    (list, organization) => `SELECT m.account_id AS "accountId", m.project_id AS "projectId",
        m.role, m.synced, m.origin
       FROM project_memberships m JOIN projects p ON p.id = m.project_id
      WHERE m.account_id IN (${list}) AND p.organization_id = ${organization}`,
    [organizationId],
    kinds,
  );
}
