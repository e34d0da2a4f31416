import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { type Client, idTokenAlgs } from '../../../database/models/client.ts';
import { unsynced } from '../../../database/transaction.ts';
import { recordEvent, tallyEvent } from '../../foundation/events/record.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import type { Barred } from './admits.ts';

const prefix = 'client-';

export const clientView = z.object({
  clientId: z.string(),
  issuer: z.string(),
  discoveryUrl: z.string().describe('The discovery document, with all other settings.'),
  name: z.string(),
  homeUrl: z.string().nullable(),
  redirectUris: z.array(z.string()),
  postLogoutRedirectUris: z.array(z.string()),
  backchannelLogoutUri: z.string().nullable(),
  forwardAuthOrigins: z.array(z.string()),
  public: z.boolean().describe('Whether the client has no secret, like a program on a device.'),
  pkce: z.boolean().describe('Whether the client must send a PKCE challenge.'),
  idTokenAlg: z.enum(idTokenAlgs),
  project: z.string().nullable().describe('The slug of the project that people must belong to.'),
  role: projectRole.nullable().describe('The lowest role in the project.'),
  createdAt: instant,
  /** Present only while the secret is refused because a backup was restored. */
  suspendedAt: instant.optional(),
});

/** The view of a client with its new secret, which is not shown again. */
export const newClientView = clientView.extend({
  clientSecret: z
    .string()
    .nullable()
    .describe('Shown this once; null for a client that is public or only for forward auth.'),
});

/** The view of a client. Load its origins and project first. */
export function viewClient({ config: { baseUrl } }: Context, client: Client) {
  return {
    clientId: clientIdOf(client),
    issuer: baseUrl,
    discoveryUrl: `${baseUrl}/.well-known/openid-configuration`,
    ...settingsOfClient(client),
    createdAt: client.createdAt.toISOString(),
    ...(client.suspendedAt ? { suspendedAt: client.suspendedAt.toISOString() } : {}),
  };
}

/** The settings of a client. Load its origins and project first. */
export function settingsOfClient(client: Client) {
  return {
    name: client.name,
    homeUrl: client.homeUrl,
    redirectUris: client.redirectUris,
    postLogoutRedirectUris: client.postLogoutRedirectUris,
    backchannelLogoutUri: client.backchannelLogoutUri,
    forwardAuthOrigins: (client.origins ?? []).map(({ origin }) => origin).sort(),
    public: client.secretHash === null && client.redirectUris.length > 0,
    pkce: client.pkce,
    idTokenAlg: client.idTokenAlg,
    project: client.project?.slug ?? null,
    role: client.role,
  };
}

/** Whether a client has a secret. Without a redirect URI, only forward auth uses it. */
export function hasSecret(settings: { public: boolean; redirectUris: readonly string[] }): boolean {
  return !settings.public && settings.redirectUris.length > 0;
}

/** The client id as applications send it. */
export function clientIdOf({ id }: Pick<Client, 'id'>): string {
  return prefix + id;
}

/** Whether a client id has the form of a client's id, and not of an app's. */
export function isClientId(text: string): boolean {
  return text.startsWith(prefix);
}

/** The id of the row, or null if the text is not a client id. */
export function rowIdOf(clientId: string): string | null {
  if (!isClientId(clientId)) return null;
  const parsed = id.safeParse(clientId.slice(prefix.length));
  // A client id has only one spelling.
  return parsed.success && prefix + parsed.data === clientId ? parsed.data : null;
}

/** Records an event of a client; call it inside the transaction that makes the change. */
export function recordClientEvent(
  ctx: Context,
  kind: 'client.created' | 'client.rotated' | 'client.removed',
  client: Client,
): Promise<void> {
  return recordEvent(ctx, { kind, ...eventOfClient(client) });
}

/** Records which settings of a client have changed. */
export function recordChange(ctx: Context, client: Client, fields: string[]): Promise<void> {
  return recordEvent(ctx, { kind: 'client.updated', ...eventOfClient(client), data: { fields } });
}

/** Records that an account was refused access to a client. The event does not name strangers. */
export async function recordBarred(
  ctx: Context,
  client: Pick<Client, 'id' | 'name' | 'organizationId'>,
  { accountId, reason }: { accountId: string; reason: Barred },
): Promise<void> {
  const isStranger = reason === 'not_a_member';
  const known = isStranger ? {} : { account: accountId };
  const what = {
    kind: 'client.refused' as const,
    ...eventOfClient(client),
    data: { reason, ...known },
  };
  const by = { of: client.id, apart: isStranger ? reason : `${accountId} ${reason}` };
  const seen: Context = isStranger ? { ...ctx, actor: { kind: 'anonymous' } } : ctx;
  // The commit need not wait for the disk: a barred browser is refused for each image of a page.
  await unsynced(() => tallyEvent(seen, what, by));
}

/** The subject of an event of a client, and the organization that reads it. */
export function eventOfClient(client: Pick<Client, 'id' | 'name' | 'organizationId'>) {
  const subject = { type: 'client', id: clientIdOf(client), name: client.name };
  return { organizationId: client.organizationId, subject };
}
