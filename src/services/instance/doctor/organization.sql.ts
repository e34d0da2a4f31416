import { selectAmong } from '../../../database/select.ts';

// The SQL of the checks of organizations. Each query reads for many organizations, because an
// instance may have thousands.

/** A SCIM token, and the last request to the organization's SCIM address. */
export interface ScimState {
  organizationId: string;
  suspendedAt: Date | null;
  lastUsedAt: Date | null;
  /** Null, like the other values of the request, if there was none. */
  at: Date | null;
  method: string | null;
  path: string | null;
  status: number | null;
  /** The reason for a refusal; null after a success. */
  reason: string | null;
}

/** The SCIM tokens of the organizations. */
export function readScimStates(organizationIds: string[]): Promise<ScimState[]> {
  return selectAmong<ScimState>(
    organizationIds,
    (list) => `SELECT t.organization_id AS "organizationId", t.suspended_at AS "suspendedAt",
        t.last_used_at AS "lastUsedAt", r.at, r.method, r.path, r.status, r.reason
      FROM scim_tokens t LEFT JOIN scim_requests r ON r.id = (SELECT l.id FROM scim_requests l
        WHERE l.organization_id = t.organization_id ORDER BY l.id DESC LIMIT 1)
      WHERE t.organization_id IN (${list})`,
    [],
    { columns: { suspendedAt: 'time', lastUsedAt: 'time', at: 'time' } },
  );
}

/** The number of groups that SCIM pushed to each organization. */
export function countPushedGroups(
  organizationIds: string[],
): Promise<{ organizationId: string; groups: number }[]> {
  return selectAmong(
    organizationIds,
    (list) => `SELECT g.organization_id AS "organizationId", COUNT(*) AS "groups" FROM scim_groups g
      WHERE g.organization_id IN (${list}) GROUP BY g.organization_id`,
  );
}

/** The mapped groups that SCIM does not push: the names of the first `max` of each organization. */
export function findUnpushed(
  organizationIds: string[],
  max: number,
): Promise<{ organizationId: string; group: string }[]> {
  const pushed = (column: string, list: string) =>
    `SELECT organization_id, ${column} FROM scim_groups WHERE organization_id IN (${list})`;
  return selectAmong(
    organizationIds,
    // Not NOT EXISTS, which would read all groups of an organization for each of its mappings.
    (list) => `SELECT organization_id AS "organizationId", group_name AS "group" FROM (
        SELECT organization_id, group_name, ROW_NUMBER()
          OVER (PARTITION BY organization_id ORDER BY group_name) AS place FROM (
          SELECT organization_id, group_name FROM group_mappings WHERE organization_id IN (${list})
          EXCEPT ${pushed('display_name', list)}
          EXCEPT ${pushed('external_id', list)}) unknown) placed
      WHERE place <= ${max} ORDER BY organization_id, place`,
  );
}

/** The webhooks of an organization. */
interface WebhookCount {
  organizationId: string;
  count: number;
  disabled: number;
  /** The id of the first one whose deliveries fail. */
  failing: string | null;
}

/** Counts the webhooks of each organization that has any. */
export function countWebhooks(organizationIds: string[]): Promise<WebhookCount[]> {
  return selectAmong(
    organizationIds,
    (list) => `SELECT w.organization_id AS "organizationId", COUNT(*) AS count,
        COUNT(CASE WHEN w.enabled THEN NULL ELSE 1 END) AS disabled,
        MIN(CASE WHEN w.failing_since IS NOT NULL THEN CAST(w.id AS TEXT) END) AS failing
      FROM webhooks w WHERE w.organization_id IN (${list}) GROUP BY w.organization_id`,
  );
}

/**
 * The accounts with a second factor and an identity of the organization's single sign-on that are
 * owners somewhere, each by its address or name: the first `max` of each organization.
 */
export function findOwnersWithFactor(
  organizationIds: string[],
  max: number,
): Promise<{ organizationId: string; called: string }[]> {
  return selectAmong(
    organizationIds,
    (list) => `SELECT organization_id AS "organizationId", called FROM (
        SELECT c.organization_id, COALESCE(a.email, a.name) AS called, ROW_NUMBER()
          OVER (PARTITION BY c.organization_id ORDER BY a.id) AS place
        FROM sso_connections c
          JOIN identities i ON i.connection_id = CAST(c.id AS TEXT)
          JOIN accounts a ON a.id = i.account_id
        WHERE c.organization_id IN (${list}) AND (a.totp_enabled_at IS NOT NULL OR a.has_passkey)
          AND a.id IN (SELECT m.account_id FROM memberships m WHERE m.role = 'owner')) placed
      WHERE place <= ${max} ORDER BY organization_id, place`,
  );
}
