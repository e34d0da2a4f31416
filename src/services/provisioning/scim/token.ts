import type { CreationAttributes } from 'sequelize';
import { z } from 'zod';
import type { Actor, Context } from '../../../context.ts';
import { hashOfSecret, isEqual, newSecret } from '../../../crypto/secret.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { requiringFirst, transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { requireStill } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { instant, ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { noteUse, suspended, writeUses } from '../../people/tokens/token.ts';
import { recordEarlierMembers } from '../../tenancy/scim-records/member.ts';
import { findTokenRow } from './token.sql.ts';
import { baseOf } from './view.ts';

/** The state of the SCIM token, and the URL to configure in the client (spec §2.4). */
export const scimTokenView = z.object({
  configured: z.boolean(),
  prefix: z.string().nullable(),
  createdAt: instant.nullable(),
  lastUsedAt: instant.nullable(),
  baseUrl: z.string(),
  /** Present only while the token is suspended because it came from a backup. */
  suspendedAt: instant.optional(),
});

/** A new token. Its value is never shown again. */
export const newScimTokenView = scimTokenView.extend({ token: z.string() });

/** The state of the organization's token, without its value. */
function viewScimToken(ctx: Context, organizationId: string, token: ScimToken | null) {
  return {
    configured: token !== null,
    prefix: token?.prefix ?? null,
    createdAt: token?.createdAt.toISOString() ?? null,
    lastUsedAt: token?.lastUsedAt?.toISOString() ?? null,
    baseUrl: baseOf(ctx, organizationId),
    ...(token === null ? {} : suspended(token)),
  };
}

const input = z.strictObject({ org: ref });

/** Shows whether the organization has a SCIM token, with its prefix and last use (spec §2.4). */
export const showScimToken = operation({
  authority: 'scim.see',
  input,
  output: scimTokenView,
  run: async (ctx, _input, { organization: { id } }) =>
    viewScimToken(ctx, id, await ScimToken.findByPk(id)),
});

/**
 * Gives the organization a new SCIM token, and revokes the old one immediately (spec §3.5). First
 * writes the records that earlier members lack, in separate transactions.
 */
export const rotateScimToken = operation({
  authority: 'scim.rotate',
  input,
  output: newScimTokenView,
  run: (ctx, _input, { organization }) =>
    issue(ctx, organization, 'scim.rotate', async (row) => {
      const former = await ScimToken.findByPk(organization.id);
      await ScimToken.upsert(row);
      return former === null ? 'scim.token.created' : 'scim.token.rotated';
    }),
});

/** Gives the organization its first SCIM token. Refuses with `already_exists` if it has one. */
export const createScimToken = operation({
  authority: 'scim.create',
  input,
  output: newScimTokenView,
  run: (ctx, _input, { organization }) =>
    issue(ctx, organization, 'scim.create', async (row) => {
      await refusingDuplicate(ScimToken.create(row), {
        message: `${organization.name} already has a SCIM token.`,
        hint: 'An owner can replace it.',
      });
      return 'scim.token.created';
    }),
});

/** Creates a token, and stores it with `store`, which returns the kind of event. */
async function issue(
  ctx: Context,
  organization: Organization,
  right: 'scim.create' | 'scim.rotate',
  store: (
    row: CreationAttributes<ScimToken>,
  ) => Promise<'scim.token.created' | 'scim.token.rotated'>,
) {
  await recordEarlierMembers(organization.id);
  const { value, prefix, hash } = newSecret('scim_');
  const times = { createdAt: ctx.now, lastUsedAt: null, suspendedAt: null };
  const row = { organizationId: organization.id, prefix, hash, ...times };
  await transaction(async () => {
    const kind = await store(row);
    await recordEvent(ctx, { kind, ...about(organization, prefix) });
    await requireStill(ctx, right, organization);
  });
  const view = viewScimToken(ctx, organization.id, ScimToken.build(row));
  return { ...view, token: value };
}

/**
 * Revokes the organization's SCIM token. The client loses access (spec §3.5), and the members stay.
 */
export const revokeScimToken = operation({
  authority: 'scim.revoke',
  input,
  output: scimTokenView,
  ends: {
    ask: ({ prefix }) => `Revoke the SCIM token ${prefix}…?`,
    done: ({ prefix }) => `Revoked the SCIM token ${prefix}….`,
  },
  run: (ctx, _input, { organization }) =>
    transaction(async () => {
      const token = await ScimToken.findByPk(organization.id);
      if (token === null || (await ScimToken.destroy({ where: { hash: token.hash } })) === 0) {
        throw new Refusal('not_found', `${organization.slug} has no SCIM token.`, {
          hint: {
            to: 'create one',
            operation: 'scim.token.rotate',
            with: { org: organization.slug },
          },
        });
      }
      await recordEvent(ctx, {
        kind: 'scim.token.revoked',
        ...about(organization, token.prefix),
      });
      return viewScimToken(ctx, organization.id, token);
    }),
});

function about({ id }: Organization, name: string) {
  return eventAbout('scimToken', { id, name }, id);
}

/** The last use of each organization's token, by its hash, until a job writes it (security P13). */
export const scimTokenUses = remembered(() => new Map<string, Date>());

/**
 * Authenticates the SCIM client of this organization by its token. Returns null for an unknown or
 * suspended token, and for a token of another organization.
 */
export async function findScimActor(
  ctx: Context,
  org: string,
  credential: string,
): Promise<Actor | null> {
  const hash = hashOfSecret('scim_', credential);
  if (hash === null) return null;
  const row = await findTokenRow(hash);
  if (row === null || !isEqual(row.hash, hash) || row.organization_id !== org) return null;
  noteUse(scimTokenUses(ctx), hash, { now: ctx.now, lastUsedAt: row.last_used_at });
  return { kind: 'scim', organizationId: org, name: row.prefix };
}

/** Writes the remembered uses of SCIM tokens, as is done for access tokens (security P13). */
export function writeScimTokenUses(ctx: Context): Promise<void> {
  return writeUses(scimTokenUses(ctx), (hash, lastUsedAt, stale) =>
    ScimToken.update({ lastUsedAt }, { where: { hash, ...stale } }),
  );
}

/**
 * Answers a request of a SCIM client. Each transaction first authenticates the client again,
 * because the token may end while the transaction waits to begin (security P2).
 */
export function withLiveToken<T>(
  authenticate: () => Promise<unknown>,
  answer: () => Promise<T>,
): Promise<T> {
  return requiringFirst(authenticate, answer);
}
