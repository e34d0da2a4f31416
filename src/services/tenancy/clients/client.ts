import { z } from 'zod';
import { Client, idTokenAlgs } from '../../../database/models/client.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

const prefix = 'client-';

export const clientView = z.object({
  clientId: z.string(),
  name: z.string(),
  redirectUris: z.array(z.string()),
  postLogoutRedirectUris: z.array(z.string()),
  backchannelLogoutUri: z.string().nullable(),
  forwardAuthOrigins: z.array(z.string()),
  public: z.boolean().describe('Whether it has no secret, as programs on a person’s device.'),
  pkce: z.boolean().describe('Whether it must send a PKCE challenge.'),
  idTokenAlg: z.enum(idTokenAlgs),
  project: z.string().nullable().describe('The slug of the project that people must belong to.'),
  role: projectRole.nullable().describe('The least role there.'),
  createdAt: instant,
  /** Only while its secret is refused, because it came out of a backup. */
  suspendedAt: instant.optional(),
});
export const clientPage = pageOf(clientView);

/** A client with its loaded origins and project. */
export function viewClient(client: Client) {
  return {
    clientId: clientIdOf(client),
    name: client.name,
    redirectUris: client.redirectUris,
    postLogoutRedirectUris: client.postLogoutRedirectUris,
    backchannelLogoutUri: client.backchannelLogoutUri,
    forwardAuthOrigins: (client.origins ?? []).map(({ origin }) => origin).sort(),
    public: client.secretHash === null,
    pkce: client.pkce,
    idTokenAlg: client.idTokenAlg,
    project: client.project?.slug ?? null,
    role: client.role,
    createdAt: client.createdAt.toISOString(),
    ...(client.suspendedAt ? { suspendedAt: client.suspendedAt.toISOString() } : {}),
  };
}

/** The client id in the protocol. */
export function clientIdOf({ id }: Pick<Client, 'id'>): string {
  return prefix + id;
}

/** Whether a client id of the token endpoint names a client, and not an app. */
export function isClientId(text: string): boolean {
  return text.startsWith(prefix);
}

/** The client of this client id on the instance, with its organization and project, or null. */
export async function findClient(clientId: string): Promise<Client | null> {
  const row = rowIdOf(clientId);
  if (row === null) return null;
  return Client.findByPk(row, { include: ['organization', 'origins', 'project'] });
}

/** The id of the row, or null if the text is no client id. */
export function rowIdOf(clientId: string): string | null {
  if (!isClientId(clientId)) return null;
  const parsed = id.safeParse(clientId.slice(prefix.length));
  // One spelling alone names a client.
  return parsed.success && prefix + parsed.data === clientId ? parsed.data : null;
}
