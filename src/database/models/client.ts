import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Organization } from './organization.ts';
import type { Project, ProjectRole } from './project.ts';

/** The algorithms that can sign a client's ID tokens. */
export const idTokenAlgs = ['RS256', 'EdDSA'] as const;

/**
 * An application that signs in an organization's people through idctl's OpenID provider. A removed
 * client has no row.
 */
export class Client extends Row<Client> {
  /** The client id is this id, prefixed with `client-`. */
  declare id: string;
  declare organizationId: string;
  /** Unique within the organization. */
  declare name: string;
  /** SHA-256 of the client secret, in hex. Null for a public client. */
  declare secretHash: string | null;
  declare redirectUris: string[];
  declare postLogoutRedirectUris: string[];
  declare backchannelLogoutUri: string | null;
  /** Whether PKCE is required. */
  declare pkce: boolean;
  declare idTokenAlg: (typeof idTokenAlgs)[number];
  /** The project that people must belong to, with at least `role`. Both are set, or neither. */
  declare projectId: string | null;
  declare role: ProjectRole | null;
  declare createdAt: Date;
  /** When the secret was suspended, because it came from a backup. A new secret ends this. */
  declare suspendedAt: CreationOptional<Date | null>;
  /** Present only if the query included them. */
  declare origins?: NonAttribute<ClientOrigin[]>;
  declare organization?: NonAttribute<Organization>;
  declare project?: NonAttribute<Project | null>;
}

/** A web origin that a proxy protects with forward auth. Only one client can have it. */
export class ClientOrigin extends Row<ClientOrigin> {
  declare origin: string;
  declare clientId: string;
  /** Whether the operator registered it, so that its host needs no verified domain. */
  declare byOperator: boolean;
}

/** Binds the models to the open database. */
export function initClient(sequelize: Sequelize): void {
  Client.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      name: column.string(),
      secretHash: column.optional(column.string()),
      redirectUris: column.json(),
      postLogoutRedirectUris: column.json(),
      backchannelLogoutUri: column.optional(column.string()),
      pkce: column.flag(),
      idTokenAlg: column.string(),
      projectId: { ...column.optional(column.to('projects')), onDelete: 'NO ACTION' },
      role: column.optional(column.string()),
      createdAt: column.date(),
      suspendedAt: column.optional(column.date()),
    },
    table(sequelize, 'clients', [
      column.unique('clients_organization_name', ['organization_id', 'name']),
      column.unique('clients_secret_hash', ['secret_hash']),
      column.index('clients_project_id', ['project_id']),
    ]),
  );
  ClientOrigin.init(
    {
      origin: column.key(column.string()),
      clientId: column.to('clients'),
      byOperator: column.flag(),
    },
    table(sequelize, 'client_origins', [column.index('client_origins_client_id', ['client_id'])]),
  );
}
