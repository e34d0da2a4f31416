import { column, rowOf } from './columns.ts';
import type { Organization } from './organization.ts';
import type { Project, ProjectRole } from './project.ts';

/** The algorithms that can sign a client's ID tokens. */
export const idTokenAlgs = ['RS256', 'EdDSA'] as const;

/**
 * An application that signs in an organization's people through idctl's OpenID provider. When a
 * client is removed, its row is deleted.
 */
export class Client extends rowOf(
  'clients',
  {
    /** The client id is this id, prefixed with `client-`. */
    id: column.key(),
    organizationId: column.to('organizations'),
    /** Unique within the organization. */
    name: column.string(),
    /** SHA-256 of the client secret, in hex. Null for a public client. */
    secretHash: column.optional(column.string()),
    /** Where the application begins, for the account page of people; null if it is not listed. */
    homeUrl: column.optional(column.string()),
    redirectUris: column.json<string[]>(),
    postLogoutRedirectUris: column.json<string[]>(),
    backchannelLogoutUri: column.optional(column.string()),
    /** Whether PKCE is required. */
    pkce: column.flag(),
    idTokenAlg: column.string<(typeof idTokenAlgs)[number]>(),
    /** The project that people must belong to, with at least `role`. Both are set, or neither. */
    projectId: { ...column.optional(column.to('projects')), onDelete: 'NO ACTION' },
    role: column.optional(column.string<ProjectRole>()),
    createdAt: column.date(),
    /** When a restore suspended the secret. A new secret ends the suspension. */
    suspendedAt: column.optional(column.date()),
  },
  () => [
    column.unique('clients_organization_name', ['organization_id', 'name']),
    column.unique('clients_secret_hash', ['secret_hash']),
    column.index('clients_project_id', ['project_id']),
  ],
) {
  /** Present only if the query included them. */
  declare origins?: ClientOrigin[];
  declare organization?: Organization;
  declare project?: Project | null;
}

/** A web origin that a proxy protects with forward auth. Only one client can have it. */
export class ClientOrigin extends rowOf(
  'client_origins',
  {
    origin: column.key(column.string()),
    clientId: column.to('clients'),
    /** Whether the operator registered it, so that its host does not need a verified domain. */
    byOperator: column.flag(),
  },
  () => [column.index('client_origins_client_id', ['client_id'])],
) {}
