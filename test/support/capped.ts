import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Client } from '../../src/database/models/client.ts';
import { Domain } from '../../src/database/models/domain.ts';
import { GroupMapping } from '../../src/database/models/group-mapping.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Project } from '../../src/database/models/project.ts';
import { SetupLink } from '../../src/database/models/setup-link.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { Cap } from '../../src/services/foundation/limits/caps.sql.ts';

const createdAt = new Date('2026-01-01');
const row = (organizationId: string) => ({ id: orderedId(), organizationId, createdAt });
const rows = <Row>(count: number, rowOf: (at: number) => Row) =>
  Array.from({ length: count }, (_, at) => rowOf(at));

const fill: Record<Cap, (org: string, count: number) => Promise<unknown>> = {
  domains: (org, count) =>
    Domain.bulkCreate(
      rows(count, (at) => {
        return { ...row(org), name: `d${at}.test`, state: 'Pending' as const, token: 'token' };
      }),
    ),
  webhooks: (org, count) =>
    Webhook.bulkCreate(
      rows(count, (at) => {
        return { ...row(org), url: `https://${at}.test/`, secret: 'sealed', enabled: false };
      }),
    ),
  clients: (org, count) =>
    Client.bulkCreate(
      rows(count, (at) => ({
        ...row(org),
        name: `Client ${at}`,
        redirectUris: [`https://${at}.test/`],
        postLogoutRedirectUris: [],
        pkce: true,
        idTokenAlg: 'RS256' as const,
      })),
    ),
  setupLinks: (org, count) =>
    SetupLink.bulkCreate(
      rows(count, () => ({
        ...row(org),
        tokenHash: orderedId(),
        parts: ['domain' as const],
        madeBy: { kind: 'operator' as const },
        expiresAt: new Date('9999-01-01'),
      })),
    ),
  projects: (org, count) =>
    Project.bulkCreate(rows(count, (at) => ({ ...row(org), slug: `p${at}`, name: `P ${at}` }))),
  mappings: (org, count) =>
    GroupMapping.bulkCreate(
      rows(count, (at) => ({ ...row(org), group: `group ${at}`, orgRole: 'member' as const })),
    ),
};

const step = 2000;

/** Gives the organization this many rows of one kind, whatever the cap. */
export async function fillCap(cap: Cap, organizationId: string, count: number): Promise<void> {
  await transaction(() => fill[cap](organizationId, count));
}

/** Creates accounts and makes them members of the organization. Returns their addresses. */
export async function fillMembers(organizationId: string, count: number): Promise<string[]> {
  const accounts = rows(count, (at) => ({
    id: orderedId(),
    email: `m${at}@${organizationId}.test`,
    name: 'Ada Byron',
    locale: 'en',
    emailProof: 'operator' as const,
    createdAt,
  }));
  await transaction(async () => {
    const origin = { kind: 'operator' as const };
    // In steps, so that each statement is short on a busy machine too.
    for (let from = 0; from < count; from += step) {
      const some = accounts.slice(from, from + step);
      await Account.bulkCreate(some);
      await Membership.bulkCreate(
        some.map(({ id: accountId }) => {
          return {
            organizationId,
            accountId,
            role: 'member' as const,
            origin,
            joinedAt: createdAt,
          };
        }),
      );
    }
  });
  return accounts.map(({ email }) => email);
}
