import type { Context } from '../../../context.ts';

/** The SCIM base URL of an organization (spec §2.4). */
export function baseOf({ config }: Pick<Context, 'config'>, organizationId: string): string {
  return `${config.baseUrl}/scim/v2/orgs/${organizationId}`;
}
