import PQueue from 'p-queue';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { Check } from './check.ts';

/**
 * Reads the data of a kind of check for many organizations, in a few statements. Returns the check
 * of each organization; null if the organization does not need it. The organizations are in order
 * of their ids, and none of the instance in between is left out.
 */
export type Reader = (
  ctx: Context,
  organizations: Organization[],
) => Promise<(organization: Organization) => Promise<Check> | null>;

// The checks of an organization query a provider and a directory, which may take ten seconds.
const atOnce = 8;

/** Runs the checks of the organizations, in order of the organizations and then of the readers. */
export async function runChecks(
  ctx: Context,
  organizations: Organization[],
  readers: Reader[],
): Promise<Check[]> {
  const looks: Awaited<ReturnType<Reader>>[] = [];
  for (const read of readers) looks.push(await read(ctx, organizations));
  const queue = new PQueue({ concurrency: atOnce });
  const checks = await queue.addAll(
    organizations.map((organization) => () => Promise.all(looks.map((look) => look(organization)))),
  );
  return checks.flat().filter((each) => each !== null);
}

/** Runs a read that many checks share. If it fails, the returned function throws its error. */
export async function sharing<Value>(read: Promise<Value>): Promise<() => Value> {
  try {
    const value = await read;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The rows of each organization, by its id. */
export function byOrganization<Row extends { organizationId: string }>(
  rows: readonly Row[],
): (organizationId: string) => Row[] {
  const groups = Map.groupBy(rows, ({ organizationId }) => organizationId);
  return (organizationId) => groups.get(organizationId) ?? [];
}
