import { select } from '../../../database/select.ts';

/** The queries that count what a cap limits. */
const rows = {
  domains: "domains WHERE state = 'Pending' AND",
  webhooks: 'webhooks WHERE',
  clients: 'clients WHERE',
  setupLinks: 'setup_links WHERE',
  projects: 'projects WHERE',
  mappings: 'group_mappings WHERE',
};

/** A kind of thing with a cap for each organization. */
export type Cap = keyof typeof rows;

/** How many of a kind the organization has. */
export async function countStored(cap: Cap, organizationId: string): Promise<number> {
  const [counted] = await select<{ stored: number }>(
    `SELECT count(*) AS stored FROM ${rows[cap]} organization_id = $1`,
    [organizationId],
  );
  return counted?.stored ?? 0;
}
