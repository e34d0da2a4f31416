import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { Check } from './check.ts';
import { connectionReaders } from './connections.ts';
import { runChecks } from './reader.ts';
import { storedReaders } from './stored.ts';

/**
 * Checks connections, SCIM tokens, mappings, webhooks, and ways to sign in of the organizations;
 * see `Reader`.
 */
export function checkOrganizations(ctx: Context, organizations: Organization[]): Promise<Check[]> {
  return runChecks(ctx, organizations, [...connectionReaders, ...storedReaders]);
}
