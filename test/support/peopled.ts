import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { transaction } from '../../src/database/transaction.ts';
import { organization, signedIn } from './builders.ts';
import type { Idctl } from './idctl.ts';

/** An organization with members of these names, which its owner lists. */
export async function peopled(idctl: Idctl, names: string[]) {
  const org = await organization(idctl);
  const rows = names.map((name, at) => ({
    id: orderedId(),
    name,
    email: `${org.slug}-${at}@example.test`,
    emailProof: 'operator' as const,
    createdAt: new Date(),
  }));
  await transaction(async () => {
    await Account.bulkCreate(rows);
    const origin = { kind: 'operator' as const };
    await Membership.bulkCreate(
      rows.map(({ id }) => {
        const key = { organizationId: org.id, accountId: id };
        return { ...key, role: 'member' as const, origin, joinedAt: new Date() };
      }),
    );
  });
  const client = await signedIn(idctl, org.owner.email);
  const list = async (query: Record<string, string> = {}) =>
    (await client.get(`/api/v1/orgs/${org.slug}/members?${new URLSearchParams(query)}`)).body;
  const found = async (query: Record<string, string>): Promise<string[]> =>
    (await list(query)).items.map(({ name }: { name: string }) => name).toSorted();
  return { org, client, list, found };
}
