import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Stop } from '../../../database/delete-batches.ts';
import { Organization } from '../../../database/models/organization.ts';
import { SsoConnection, type StoredMetadata } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { Failures } from '../../../host/queue.ts';
import { requireStill } from '../../foundation/authority/require.ts';
import { recordEvent, tallyEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { after } from '../../foundation/time.ts';
import { aboutSso, fingerprintsOf } from '../connections/sso.ts';
import {
  holdSsoConnection,
  requireMetadata,
  requireSsoConnection,
  ssoView,
  viewSso,
} from './connection.ts';
import { fetchMetadata, toStore } from './metadata.ts';

// The metadata at a URL is read again every day. A new certificate is taken from there only, and an
// approval stays, because the URL and the entity ID stay (security I8, S11).

/** Reads the metadata of the provider again, at its URL. */
export const refreshSso = operation({
  authority: 'sso.change',
  input: z.strictObject({ org: ref }),
  output: ssoView,
  prepare: async (ctx, _input, { organization }) => {
    const { metadataUrl } = await requireSsoConnection(organization);
    if (metadataUrl === null) throw noUrl();
    return { metadataUrl, metadata: await fetchMetadata(ctx, organization, metadataUrl) };
  },
  run: async (ctx, _input, { organization }, read) => {
    const connection = await storeRead(ctx, organization, read);
    if (connection === null) throw otherEntity();
    return viewSso(ctx, connection);
  },
});

function noUrl(): Refusal {
  return new Refusal('conflict', 'This connection has no metadata URL.', {
    hint: 'idctl reads metadata again only from a URL. Save the connection with the new metadata.',
  });
}

function otherEntity(): Refusal {
  return new Refusal('conflict', 'The metadata at the URL names another entity ID.', {
    hint: 'If the provider has changed, save the connection again with this metadata URL. An owner then approves it.',
  });
}

interface Read {
  metadataUrl: string;
  metadata: StoredMetadata;
}

/** Stores the metadata; null if it names another entity ID, which is recorded. */
function storeRead(
  ctx: Context,
  organization: Organization,
  { metadataUrl, metadata }: Read,
): Promise<SsoConnection | null> {
  return transaction(async () => {
    const connection = await holdSsoConnection(organization);
    if (connection.metadataUrl !== metadataUrl) throw noUrl();
    if (connection.issuer !== metadata.entityId) {
      const what = { kind: 'sso.metadata.refused', ...aboutSso(connection), data: {} } as const;
      await tallyEvent(ctx, what, { of: connection.id, apart: 'metadata' });
      return null;
    }
    const before = requireMetadata(connection);
    await connection.update({ metadata, metadataReadAt: ctx.now });
    const certificates = changes(before, metadata);
    if (certificates !== null || before.ssoUrl !== metadata.ssoUrl) {
      const data = { ssoUrl: metadata.ssoUrl, added: [], removed: [], ...certificates };
      await recordEvent(ctx, { kind: 'sso.metadata.changed', ...aboutSso(connection), data });
    }
    if (ctx.actor.kind !== 'system') await requireStill(ctx, 'sso.change', organization);
    return connection;
  });
}

/** The fingerprints of the certificates that are new or gone; null if all are the same. */
function changes(before: StoredMetadata, now: StoredMetadata) {
  if (fingerprintsOf(before) === fingerprintsOf(now)) return null;
  const named = ({ certificates }: StoredMetadata) =>
    certificates.map(({ fingerprint }) => fingerprint);
  const [old, current] = [named(before), named(now)];
  return {
    added: current.filter((one) => !old.includes(one)),
    removed: old.filter((one) => !current.includes(one)),
  };
}

const daySeconds = 86_400;

/**
 * Reads the metadata at each URL that was not read, or tried, for a day. A job of the daemon calls
 * it. A failure does not keep other connections from their turn.
 */
export async function refreshAll(ctx: Context, { stop }: { stop?: Stop } = {}): Promise<void> {
  const dayAgo = { [Op.lte]: after(ctx.now, -daySeconds) };
  const due = await SsoConnection.findAll({
    where: {
      metadataUrl: { [Op.ne]: null },
      metadataReadAt: dayAgo,
      metadataTriedAt: { [Op.or]: [dayAgo, { [Op.is]: null }] },
    },
    order: ['id'],
  });
  const failures: unknown[] = [];
  for (const connection of due) {
    if (stop?.aborted) break;
    await refreshOne(ctx, connection).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new Failures(failures);
}

async function refreshOne(ctx: Context, connection: SsoConnection): Promise<void> {
  const { organizationId, metadataUrl, id } = connection;
  const organization = await Organization.findByPk(organizationId);
  if (organization === null || metadataUrl === null) return;
  // Before the try, so that one that fails in any way is not repeated at the next run.
  await transaction(() =>
    SsoConnection.update({ metadataTriedAt: ctx.now }, { where: { id, metadataUrl } }),
  );
  try {
    const { metadata } = await ctx.outbound.saml.fetchMetadata(metadataUrl);
    await storeRead(ctx, organization, { metadataUrl, metadata: toStore(metadata) });
  } catch (error) {
    await recordFailed(ctx, id, error);
  }
}

/** One event per connection and reason in 15 minutes. The stored metadata stays in use. */
async function recordFailed(ctx: Context, id: string, error: unknown): Promise<void> {
  if (!(error instanceof Refusal)) throw error;
  if (error.kind !== 'upstream') return;
  await transaction(async () => {
    const connection = await SsoConnection.findByPk(id);
    if (connection === null) return;
    const { message, code, failure } = error;
    const data = { stage: 'metadata', reason: failure?.reason ?? code, message };
    const what = { kind: 'sso.provider.failed', ...aboutSso(connection), data } as const;
    await tallyEvent(ctx, what, { of: id, apart: `metadata ${data.reason}` });
  });
}
